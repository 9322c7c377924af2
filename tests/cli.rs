//! cli: tests to come.
