//! The words of an identity: mutability, action, output domain, and the unhashed content type.
//!
//! The first values are the behavioral identity paper's (Table 2); EXECUTE, SEND, MOVE, MESSAGE, MONEY, INFRA, MODEL
//! and UNKNOWN are ours, for what the paper says it leaves open.

use crate::wire::words::words;

words! {
    /// Whether calling changes anything that outlives the call. The badge.
    Mutability {
        /// Changes nothing, neither remotely nor in a local file, browser or session.
        Pure = "PURE",
        /// Creates, changes, deletes, sends, executes, spends; and whatever is unknown.
        Mutates = "MUTATES",
    }
}

words! {
    /// What is shown of mutability, and of how sure it is.
    Badge {
        /// It only reads, and that is proven: the tool by its definition, the call by its arguments.
        Pure = "PURE",
        /// It reads by what its definition says, but that is not proven; or something is new about this call.
        Likely = "PURE?",
        /// It changes something, or its effect is unknown.
        Mutates = "MUTATES",
    }
}

impl Badge {
    pub fn of(mutability: Mutability, confidence: Confidence) -> Self {
        match (mutability, confidence) {
            (Mutability::Mutates, _) => Self::Mutates,
            (Mutability::Pure, Confidence::Proven) => Self::Pure,
            (Mutability::Pure, Confidence::Likely | Confidence::None) => Self::Likely,
        }
    }
}

words! {
    Action {
        /// Fetches named things, or lists them.
        Read = "READ",
        /// Finds by a query among many.
        Search = "SEARCH",
        Create = "CREATE",
        /// Changes parts of a thing.
        Update = "UPDATE",
        Delete = "DELETE",
        /// Joins one thing into another.
        Merge = "MERGE",
        /// Replaces a thing's whole content.
        Overwrite = "OVERWRITE",
        Append = "APPEND",
        /// Runs code, commands, jobs; starts and stops things.
        Execute = "EXECUTE",
        /// Delivers a message, a payment, an order, a notification.
        Send = "SEND",
        Move = "MOVE",
        Unknown = "UNKNOWN",
    }
}

words! {
    /// What comes back.
    OutputDomain {
        /// Records, metrics, generic structured data.
        Data = "DATA",
        /// Text, a file, media, a document.
        Content = "CONTENT",
        /// Listings, trees, schemas, configuration.
        Structure = "STRUCTURE",
        /// Differences between versions.
        Diff = "DIFF",
        Pr = "PR",
        /// Issues, tickets, tasks.
        Issue = "ISSUE",
        Ref = "REF",
        Repo = "REPO",
        /// Users, accounts, members.
        User = "USER",
        /// Mail, chat, notifications, comments.
        Message = "MESSAGE",
        /// Payments, orders, prices, balances.
        Money = "MONEY",
        /// Hosts, containers, clusters, networks, deployments.
        Infra = "INFRA",
        /// Models, runs, predictions.
        Model = "MODEL",
        Ack = "ACK",
        Unknown = "UNKNOWN",
    }
}

words! {
    /// The kind of content; not hashed. Catches what the three words cannot (the paper's one uncaught error).
    ContentType {
        Text = "TEXT",
        /// Images, audio, archives: bytes.
        Binary = "BINARY",
        /// JSON, tables, records.
        Structured = "STRUCTURED",
        Unknown = "UNKNOWN",
    }
}

impl Action {
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Search)
    }

    /// How much caution it asks for; the more, the higher.
    pub fn caution(self) -> u8 {
        match self {
            Self::Read => 0,
            Self::Search => 1,
            Self::Append => 2,
            Self::Create => 3,
            Self::Update => 4,
            Self::Move => 5,
            Self::Merge => 6,
            Self::Overwrite => 7,
            Self::Send => 8,
            Self::Execute => 9,
            Self::Delete => 10,
            Self::Unknown => 11,
        }
    }
}

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
