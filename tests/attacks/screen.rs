//! screen: attacks to come.
