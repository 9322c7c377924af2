//! redact (stub)
