//! What the engine keeps beside a body, to search by: its time, its shape, its session and ticket. Made of the body alone, so that
//! whoever reads a row can tell whether they are the body's.

use crate::audit::Fields;
use crate::audit::fields::IN_SHAPE;
use crate::wire::Digest;

/// How many characters of a session or a ticket are kept: an index takes no longer ones.
const LONGEST: usize = 128;

/// The columns of one record. A body that cannot be read has none but a time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// In milliseconds since 1970, UTC; 0 where the body does not say.
    pub time: i64,
    pub shape: Option<Shape>,
    pub session: Option<String>,
    pub ticket: Option<String>,
}

/// The texts of [`IN_SHAPE`], as a JSON array, and the name that the engine's table knows them by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub name: Vec<u8>,
    pub words: String,
}

impl Columns {
    pub fn of(body: &[u8]) -> Self {
        let Some(fields) = Fields::of(body) else { return Self::default() };
        let words = IN_SHAPE.map(|field| fields.text(field).map(|text| without_nul(&text)));
        let words = serde_json::to_string(&words).unwrap_or_default();
        let name = shape_name(&words);
        Self {
            time: fields.millis().unwrap_or(0),
            shape: Some(Shape { name, words }),
            session: Some(key(&fields.session)),
            ticket: fields.ticket.as_deref().map(key),
        }
    }
}

/// The name of these words.
pub fn shape_name(words: &str) -> Vec<u8> {
    Digest::of(words.as_bytes()).as_bytes()[..16].to_vec()
}

/// A session or ticket as its column has it: in lower case and cut.
pub fn key(text: &str) -> String {
    without_nul(&text.to_lowercase()).chars().take(LONGEST).collect()
}

/// PostgreSQL's texts have no NUL.
fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}
