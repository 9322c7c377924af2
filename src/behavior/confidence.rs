//! How sure it is that a tool only reads. Owns no evidence.

use crate::wire::words::words;

words! {
    /// How sure it is that a tool is PURE. Ordered: what may run unasked is the maximum.
    #[derive(Default)]
    Confidence {
        /// It MUTATES, or its effect is unknown.
        #[default]
        None = "none",
        /// It reads by at least one voter, and none is against: it asks once per definition.
        Likely = "likely",
        /// Independent voters agree, or somebody who is trusted said so.
        Proven = "proven",
    }
}
