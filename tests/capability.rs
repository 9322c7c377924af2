//! capability: tests to come.
