//! process: tests to come.
