//! real: tests to come.
