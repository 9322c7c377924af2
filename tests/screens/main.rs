//! screens: tests to come.
