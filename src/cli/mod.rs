//! One file per command; all wording of --help.
