//! query (stub)
