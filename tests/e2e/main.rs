//! e2e: tests to come.
