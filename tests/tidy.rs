//! tidy: tests to come.
