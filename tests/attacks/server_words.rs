//! server_words: attacks to come.
