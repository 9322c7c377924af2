//! chain (stub)
