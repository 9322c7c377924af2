//! process: attacks to come.
