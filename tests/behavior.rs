//! behavior: tests to come.
