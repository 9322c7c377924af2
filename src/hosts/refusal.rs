//! Why a file of a host, or a server in it, is left alone.

/// Why a file is not read, or is left as it is, or a server in it: in words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

/// It has no `Display` of its own, so whatever has one can become it.
impl<T: ToString> From<T> for Refusal {
    fn from(why: T) -> Self {
        Self(why.to_string())
    }
}

/// Why a server is left alone that is reached over the network.
pub const REMOTE: &str = "it is reached over the network";
