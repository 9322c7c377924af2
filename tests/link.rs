//! link: tests to come.
