//! store (stub)
