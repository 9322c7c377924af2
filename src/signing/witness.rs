//! The ends of many machines' logs in one text that an operator signs. Pure; what is signed here proves that these records were there.
//!
//! The text is a checkpoint in a signed note (c2sp.org/tlog-checkpoint, c2sp.org/signed-note): a line that names the desk, how many
//! machines there are, and the root of the Merkle tree (RFC 6962, section 2.1) over the lines of the machines; then, as extension lines,
//! who signs and when, and a line for each machine: `head NAME SEQ LINK`, the name as JSON, the link in Base64. The signature line is an
//! em dash, the signer's name, and the Base64 of four bytes that name the key and a whole SSHSIG blob, as `ssh-keygen -Y sign -n
//! witness@mcp-approve` makes it over the text. The key's four bytes are the first of SHA-256 over name, line feed, 0xff,
//! `sshsig@mcp-approve` and the key's SSH blob.

use data_encoding::BASE64;

use super::signers::Signers;
use super::sshsig::{PublicKey, SshSignature, rearmored, unarmored};
use super::statement::{Evidence, NoStatement, Refused, Signed, attest};
use crate::wire::Digest;
use crate::wire::digest::Hasher;

/// The namespace of its signatures.
pub const NAMESPACE: &str = "witness@mcp-approve";

/// What the text says of itself, before the desk's own name.
const ORIGIN: &str = "mcp-approve/desk/";

/// The kind of our signature line, among those that have no number.
const KIND: &str = "sshsig@mcp-approve";

/// How many machines one text is about: it must fit a pipe while `ssh-keygen` waits for a touch.
pub const MOST: usize = 400;

/// The end of a machine's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineHead {
    pub machine: String,
    pub seq: i64,
    pub link: Digest,
}

/// What is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The desk's own name: a note of one desk says nothing of another.
    pub desk: String,
    pub signer: String,
    /// Milliseconds since 1970, UTC.
    pub time: i64,
    pub heads: Vec<MachineHead>,
}

impl MachineHead {
    fn line(&self) -> String {
        // A text is always JSON, which has no line ends in it; control characters beyond ASCII's are escaped as well.
        let name: String = serde_json::to_string(&self.machine).unwrap_or_default();
        format!("head {name} {} {}", self.seq, BASE64.encode(self.link.as_bytes()))
    }

    fn read(line: &str) -> Option<Self> {
        let (line, link) = line.strip_prefix("head ")?.rsplit_once(' ')?;
        let (name, seq) = line.rsplit_once(' ')?;
        let link = <[u8; 32]>::try_from(BASE64.decode(link.as_bytes()).ok()?).ok()?;
        Some(Self { machine: serde_json::from_str(name).ok()?, seq: seq.parse().ok()?, link: Digest::from_bytes(link) })
    }
}

impl Witness {
    pub fn text(&self) -> String {
        let lines: Vec<String> = self.heads.iter().map(MachineHead::line).collect();
        let Self { desk, signer, time, .. } = self;
        let root = BASE64.encode(root(&lines).as_bytes());
        let signer = serde_json::to_string(signer).unwrap_or_default();
        let mut text = format!("{ORIGIN}{desk}\n{}\n{root}\nsigner {signer}\ntime {time}\n", lines.len());
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        text
    }

    /// Reads the text that was signed.
    /// Errors: [`NoStatement`] for any text that [`Self::text`] does not write.
    fn read(text: &str) -> Result<Self, NoStatement> {
        let read = || {
            let mut lines = text.lines();
            let desk = lines.next()?.strip_prefix(ORIGIN)?.to_owned();
            let mut lines = lines.skip(2);
            let signer = serde_json::from_str(lines.next()?.strip_prefix("signer ")?).ok()?;
            let time = lines.next()?.strip_prefix("time ")?.parse().ok()?;
            Some(Self { desk, signer, time, heads: lines.map(MachineHead::read).collect::<Option<_>>()? })
        };
        // It is written the same again, so every line and the root are what they must be.
        read().filter(|witness| witness.text() == text).ok_or(NoStatement::NotCanonical)
    }

    /// The note: text and signature.
    pub fn note(evidence: &Evidence, signer: &str, key: &PublicKey) -> String {
        let name = key_name(signer);
        let mut bytes = key_id(&name, key).to_vec();
        bytes.extend(BASE64.decode(unarmored(&evidence.signature).as_bytes()).unwrap_or_default());
        format!("{}\n\u{2014} {name} {}\n", evidence.statement, BASE64.encode(&bytes))
    }

    /// Checks a note: its text is one of ours, signed by a key that might.
    ///
    /// # Errors
    /// [`Refused`] at the first thing that does not hold.
    pub fn check(note: &str, signers: &Signers) -> Result<Signed<Self>, Refused> {
        let (text, signature) = note.rsplit_once("\n\n").ok_or(NoStatement::NotCanonical)?;
        let line = signature.strip_prefix("\u{2014} ").and_then(|line| line.strip_suffix('\n'));
        let (name, base64) = line.and_then(|line| line.split_once(' ')).ok_or(NoStatement::NotCanonical)?;
        let bytes = BASE64.decode(base64.as_bytes()).map_err(|_| NoStatement::NotCanonical)?;
        let (id, blob) = bytes.split_first_chunk::<4>().ok_or(NoStatement::NotCanonical)?;
        let signature = rearmored(&BASE64.encode(blob));
        if *id != key_id(name, SshSignature::read(&signature)?.key()) {
            return Err(NoStatement::NotCanonical.into());
        }
        let evidence = Evidence { statement: format!("{text}\n"), signature };
        attest(evidence, NAMESPACE, signers, |text| Self::read(text).map(|read| (read.signer.clone(), read.time, read)))
    }
}

/// The signer as a note names keys: without spaces and plus signs.
fn key_name(signer: &str) -> String {
    signer.chars().map(|one| if one.is_whitespace() || one.is_control() || one == '+' { '_' } else { one }).collect()
}

fn key_id(name: &str, key: &PublicKey) -> [u8; 4] {
    let mut hasher = Hasher::default();
    for part in [name.as_bytes(), b"\n\xff", KIND.as_bytes(), key.blob()] {
        hasher.update(part);
    }
    *hasher.finish().as_bytes().first_chunk().unwrap_or(&[0; 4])
}

/// The root of the Merkle tree over these lines.
fn root(lines: &[String]) -> Digest {
    let mut hasher = Hasher::default();
    match lines {
        [] => {}
        [line] => {
            hasher.update(&[0]);
            hasher.update(line.as_bytes());
        }
        lines => {
            let (left, right) = lines.split_at(lines.len().next_power_of_two() / 2);
            hasher.update(&[1]);
            hasher.update(root(left).as_bytes());
            hasher.update(root(right).as_bytes());
        }
    }
    hasher.finish()
}
