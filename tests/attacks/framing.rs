//! framing: attacks to come.
