//! wire: tests to come.
