//! human: attacks to come.
