//! A `tools/call` request that parsed strictly, with the parts the gate judges. Owns no judgement.

use std::ops::Range;

use super::digest::Digest;
use super::id::Id;
use super::line::Line;

/// A call: the line as received, and where its parts stand in it. Only [`super::message::sort`] makes one.
#[derive(Clone, Debug)]
pub struct Call {
    pub(super) line: Line,
    pub(super) digest: Digest,
    pub(super) id: Id,
    pub(super) name: String,
    pub(super) arguments: Option<Range<usize>>,
    pub(super) meta: Meta,
    pub(super) request_state: Option<Range<usize>>,
    pub(super) input_responses: Option<Range<usize>>,
}

/// What a call's `_meta` says, as far as the gate cares. Texts are untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// `io.modelcontextprotocol/protocolVersion`: present means the stateless era (2026-07-28).
    pub protocol_version: Option<String>,
    /// `io.modelcontextprotocol/clientInfo`: name and version of the host.
    pub client: Option<(String, String)>,
    /// The JSON token of `progressToken` (a string or an integer), to echo in heartbeats.
    pub progress_token: Option<String>,
    /// Where the whole `_meta` object stands in the line's content.
    pub span: Option<Range<usize>>,
}

impl Call {
    /// The line as received.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Consumes the call for its bytes: the last step before the server's pipe.
    pub fn into_line(self) -> Line {
        self.line
    }

    /// The digest of the bytes that will be forwarded (line end aside).
    pub fn digest(&self) -> Digest {
        self.digest
    }

    /// The request id.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The tool's name, decoded.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The exact JSON text of `arguments`; `{}` where the host sent none.
    pub fn arguments_text(&self) -> &str {
        self.text(self.arguments.as_ref()).unwrap_or("{}")
    }

    /// What `_meta` says.
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The exact JSON text of `_meta`, for a question of our own in the same era.
    pub fn meta_text(&self) -> Option<&str> {
        self.text(self.meta.span.as_ref())
    }

    /// The exact JSON token of `requestState` (multi-round-trip retries).
    pub fn request_state_text(&self) -> Option<&str> {
        self.text(self.request_state.as_ref())
    }

    /// The exact JSON text of `inputResponses` (multi-round-trip retries).
    pub fn input_responses_text(&self) -> Option<&str> {
        self.text(self.input_responses.as_ref())
    }

    /// Whether the request declares the stateless era.
    pub fn is_modern(&self) -> bool {
        self.meta.protocol_version.is_some()
    }

    /// The same request with other arguments (the operator's edit), read strictly again.
    ///
    /// `arguments` is one JSON object; raw line breaks in it become spaces. Everything else keeps its bytes.
    ///
    /// # Errors
    /// The refusal a line with these arguments would meet.
    pub fn with_arguments(&self, _arguments: &str) -> Result<Self, super::message::Refusal> {
        todo!()
    }

    fn text(&self, span: Option<&Range<usize>>) -> Option<&str> {
        self.line.content().get(span?.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }
}
