//! Reads JSON strictly: RFC 8259, UTF-8, no duplicate keys at any depth, depth at most 64. Owns the tokeniser.
