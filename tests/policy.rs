//! policy: tests to come.
