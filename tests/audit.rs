//! audit: tests to come.
