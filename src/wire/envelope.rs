//! Reads a host's line in one strict pass into what judging it needs. Owns no judgement.

use std::borrow::Cow;
use std::ops::Range;

use super::id::Id;
use super::strict::{Fault, JsonKind, Reader};
use super::{fold, task};

/// What the gate needs of a call's `_meta`. Texts are untrusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// `io.modelcontextprotocol/protocolVersion`: present means the stateless era (2026-07-28).
    pub protocol_version: Option<String>,
    /// `io.modelcontextprotocol/clientInfo`: name and version of the host.
    pub client: Option<(String, String)>,
    /// The JSON token of `progressToken` (a string or an integer), to echo in heartbeats.
    pub progress_token: Option<String>,
    /// Where the whole `_meta` object is in the line's content.
    pub span: Option<Range<usize>>,
}

/// A line, read: which members it has, and what they say.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack during one judgement; a box would cost an allocation for each line"
)]
pub(super) enum Read<'a> {
    Object(Envelope<'a>),
    Array,
    /// A string, a number or a literal.
    Bare,
}

#[derive(Debug, Default)]
pub(super) struct Envelope<'a> {
    pub(super) jsonrpc: TextMember<'a>,
    pub(super) id: IdMember,
    pub(super) method: TextMember<'a>,
    pub(super) params: Params<'a>,
    pub(super) has_result: bool,
    pub(super) has_error: bool,
    /// A key that folds to a protocol key without being it.
    pub(super) shadowed: bool,
    /// A key that no revision of the protocol has.
    pub(super) has_unknown: bool,
    /// How many values it holds, nested ones included.
    pub(super) values: usize,
    /// Bytes of its longest key.
    pub(super) longest_key: usize,
}

/// The members of `params` that any method needs.
#[derive(Debug, Default)]
pub(super) struct Params<'a> {
    pub(super) value: AnyMember,
    pub(super) name: TextMember<'a>,
    pub(super) arguments: AnyMember,
    pub(super) request_state: AnyMember,
    pub(super) input_responses: AnyMember,
    pub(super) request_id: IdMember,
    /// Whether `_meta` is there, and of what kind.
    pub(super) meta_value: AnyMember,
    pub(super) meta: Meta,
    pub(super) protocol_version: TextMember<'a>,
    /// A key that folds to one of a call's without being it.
    pub(super) shadowed_as_call: bool,
    /// A key that folds to one that any method has without being it.
    pub(super) shadowed: bool,
    /// A member that a call has in no revision of the protocol.
    pub(super) has_unknown: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum TextMember<'a> {
    #[default]
    Absent,
    Text(Cow<'a, str>),
    Other,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum IdMember {
    #[default]
    Absent,
    Id(Id),
    Null,
    /// A number that parsers read differently, or no id at all.
    Other,
}

impl IdMember {
    pub(super) fn id(&self) -> Option<&Id> {
        match self {
            Self::Id(id) => Some(id),
            Self::Absent | Self::Null | Self::Other => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) enum AnyMember {
    #[default]
    Absent,
    Present(JsonKind, Range<usize>),
}

impl AnyMember {
    pub(super) fn is_absent_or(&self, kind: JsonKind) -> bool {
        match self {
            Self::Absent => true,
            Self::Present(present, _) => *present == kind,
        }
    }

    pub(super) fn span(&self) -> Option<Range<usize>> {
        match self {
            Self::Absent => None,
            Self::Present(_, span) => Some(span.clone()),
        }
    }
}

pub(super) fn read(content: &[u8]) -> Result<Read<'_>, Fault> {
    let mut reader = Reader::new(content)?;
    let read = match reader.kind()? {
        JsonKind::Object => Read::Object(envelope(&mut reader)?),
        kind @ (JsonKind::Array | JsonKind::Text | JsonKind::Number | JsonKind::Literal) => {
            reader.skip()?;
            if kind == JsonKind::Array { Read::Array } else { Read::Bare }
        }
    };
    reader.end()?;
    Ok(read)
}

fn envelope<'a>(reader: &mut Reader<'a>) -> Result<Envelope<'a>, Fault> {
    let mut found = Envelope::default();
    reader.members(|reader, key| {
        match &*key {
            "jsonrpc" => found.jsonrpc = word(reader)?,
            "id" => found.id = name(reader)?,
            "method" => found.method = word(reader)?,
            "params" => params(reader, &mut found.params)?,
            other => {
                found.has_result |= other == "result";
                found.has_error |= other == "error";
                found.has_unknown |= !matches!(other, "result" | "error");
                found.shadowed |= fold::shadows(other, fold::ENVELOPE);
            }
        }
        Ok(())
    })?;
    (found.values, found.longest_key) = (reader.values(), reader.longest_key());
    Ok(found)
}

fn params<'a>(reader: &mut Reader<'a>, found: &mut Params<'a>) -> Result<(), Fault> {
    if reader.kind()? != JsonKind::Object {
        found.value = value(reader)?;
        return Ok(());
    }
    let start = reader.at();
    reader.members(|reader, key| {
        match &*key {
            "name" => found.name = word(reader)?,
            "arguments" => found.arguments = value(reader)?,
            "requestState" => found.request_state = value(reader)?,
            "inputResponses" => found.input_responses = value(reader)?,
            "requestId" => {
                found.has_unknown = true;
                found.request_id = name(reader)?;
            }
            "_meta" => meta(reader, found)?,
            "task" => {
                let span = reader.skip()?;
                found.has_unknown |= !task::is_known(reader.raw(span));
            }
            other => {
                found.shadowed_as_call |= fold::shadows(other, fold::CALL);
                found.shadowed |= fold::shadows(other, fold::PARAMS);
                found.has_unknown = true;
            }
        }
        Ok(())
    })?;
    found.value = AnyMember::Present(JsonKind::Object, start..reader.at());
    Ok(())
}

fn meta<'a>(reader: &mut Reader<'a>, params: &mut Params<'a>) -> Result<(), Fault> {
    if reader.kind()? != JsonKind::Object {
        params.meta_value = value(reader)?;
        return Ok(());
    }
    let start = reader.at();
    reader.members(|reader, key| {
        match &*key {
            fold::PROTOCOL_VERSION => params.protocol_version = word(reader)?,
            fold::CLIENT_INFO => params.meta.client = client(reader)?,
            fold::PROGRESS_TOKEN => {
                let span = reader.skip()?;
                let token = Id::from_token(reader.raw(span));
                params.meta.progress_token = token.map(|token| token.raw().to_owned());
            }
            other => {
                let shadows = fold::shadows_meta(other);
                params.shadowed_as_call |= shadows;
                params.shadowed |= shadows;
            }
        }
        Ok(())
    })?;
    if let TextMember::Text(version) = &params.protocol_version {
        params.meta.protocol_version = Some(version.clone().into_owned());
    }
    params.meta.span = Some(start..reader.at());
    params.meta_value = AnyMember::Present(JsonKind::Object, start..reader.at());
    Ok(())
}

/// Name and version of the host; `None` unless both are strings.
fn client(reader: &mut Reader<'_>) -> Result<Option<(String, String)>, Fault> {
    if reader.kind()? != JsonKind::Object {
        reader.skip()?;
        return Ok(None);
    }
    let (mut name, mut version) = (TextMember::Absent, TextMember::Absent);
    reader.members(|reader, key| {
        match &*key {
            "name" => name = word(reader)?,
            "version" => version = word(reader)?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(match (name, version) {
        (TextMember::Text(name), TextMember::Text(version)) => Some((name.into_owned(), version.into_owned())),
        _ => None,
    })
}

fn word<'a>(reader: &mut Reader<'a>) -> Result<TextMember<'a>, Fault> {
    if reader.kind()? == JsonKind::Text {
        return reader.string().map(TextMember::Text);
    }
    reader.skip()?;
    Ok(TextMember::Other)
}

fn name(reader: &mut Reader<'_>) -> Result<IdMember, Fault> {
    let span = reader.skip()?;
    let token = reader.raw(span);
    Ok(match Id::from_token(token) {
        Some(id) => IdMember::Id(id),
        None if token == "null" => IdMember::Null,
        None => IdMember::Other,
    })
}

fn value(reader: &mut Reader<'_>) -> Result<AnyMember, Fault> {
    let kind = reader.kind()?;
    Ok(AnyMember::Present(kind, reader.skip()?))
}
