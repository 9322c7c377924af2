//! histories: tests to come.
