//! Where the lists of signers are, who can change them, and which ssh-keygen may be run: each folder on a file's way is opened through
//! the one above it, so that what is read is what was looked at. What a list says is `signing`'s.
//!
//! The machine's list counts alone where it is there, even unreadable, or its policy asks for signatures; else the user's.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use jiff::tz::TimeZone;
use rustix::fs::{CWD, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

use super::places::{PlaceError, Places, check_owner};
use super::{policy_file, user};
use crate::signing::change::{ChangeKind, ChangeTerms, Proof, SignedChange};
use crate::signing::grade::{Danger, Owner};
use crate::signing::signers::{LONGEST, LineError, Signers};
use crate::signing::{InForce, Level, Needs, Required, standing::LifeSign, statement::Evidence};
use crate::wire::Digest;

/// ssh-keygen, where the machine's policy names no other.
const KEYGEN: &str = "/usr/bin/ssh-keygen";

/// Why no signature counts here.
#[derive(Debug, thiserror::Error)]
pub enum SignersError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("{} cannot be read: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("the machine's policy asks for signatures or signs of life, so only the keys in {} count, and it is missing", file.display())]
    Missing { file: PathBuf },
    #[error("{} or a folder above it can be changed by others than root, and root's policy asks for signatures or signs of life", file.display())]
    NotRoots { file: PathBuf },
    #[error("{}", lines.iter().map(|(path, line)| format!("{}: {line}", path.display())).collect::<Vec<_>>().join("\n"))]
    Lines { lines: Vec<(PathBuf, LineError)> },
}

impl SignersError {
    pub fn hint(&self) -> String {
        match self {
            Self::Place(place) => place.hint(),
            Self::Unreadable { .. } => "no signature counts before it can be read".to_owned(),
            Self::Missing { file } | Self::NotRoots { file } => format!(
                "have root write {}; until then these calls stay held (`mcp-approve help signing`)",
                file.display()
            ),
            Self::Lines { .. } => {
                "correct these lines; until then no signature counts (`mcp-approve help signing`)".to_owned()
            }
        }
    }
}

/// Reads the list of allowed signers, and both lists of revoked keys; `None` where there is no list and none is needed.
/// Errors: [`SignersError`] when one is there and cannot be used, or the machine's is missing and its policy asks for
/// signatures.
pub fn load(places: &Places) -> Result<Option<InForce>, SignersError> {
    let [machines, own, machines_revoked, own_revoked] = files(places);
    let list = Machine::of(places).list;
    let (file, (allowed, mut owner)) = match (read(&machines)?, list) {
        (Some((_, Owner::User)), Some(Owner::Root)) => return Err(SignersError::NotRoots { file: machines }),
        (Some(list), _) => (machines, list),
        (None, Some(_)) => return Err(SignersError::Missing { file: machines }),
        (None, None) => match read(&own)? {
            Some((text, _)) => (own, (text, Owner::User)),
            None => return Ok(None),
        },
    };
    let mut lines = Vec::new();
    let mut note = |file: &Path, errors: Vec<LineError>| lines.extend(errors.into_iter().map(|one| (file.into(), one)));
    let mut signers = Signers::read(&allowed, "", &zone(owner)).unwrap_or_else(|errors| {
        note(&file, errors);
        Signers::default()
    });
    for (revoked, is_machines) in [(machines_revoked, true), (own_revoked, false)] {
        let Some((text, of)) = read(&revoked)? else { continue };
        // Who can take a key off the machine's list of revoked ones brings it back; the user's own only takes more away.
        owner = if is_machines { owner.and(of) } else { owner };
        signers.revoke(&text).unwrap_or_else(|errors| note(&revoked, errors));
    }
    if !lines.is_empty() {
        return Err(SignersError::Lines { lines });
    }
    // As root, the user can change every file.
    owner = if rustix::process::geteuid().is_root() { Owner::User } else { owner };
    Ok(Some(InForce { file, owner, signers }))
}

/// The zone of times without one: of root's list the machine's own, whatever the environment says.
fn zone(owner: Owner) -> TimeZone {
    let machines = || TimeZone::tzif("local", &std::fs::read("/etc/localtime").ok()?).ok();
    match owner {
        Owner::User => TimeZone::system(),
        Owner::Root => machines().unwrap_or(TimeZone::UTC),
    }
}

/// What protects the verdicts on this machine, by its own policy and list.
pub fn level(places: &Places) -> Level {
    // Lists that cannot be used approve nothing, and protect nothing.
    Level::of(Machine::of(places).required, load(places).ok().flatten().as_ref())
}

/// What accepting a policy of a user's takes: a signature where the machine's policy asks for some, or a file of the user's could let
/// pass unasked what must be signed.
pub fn changes_need(places: &Places) -> Needs {
    if Machine::of(places).asks.is_some() { Needs::Signature } else { Needs::Nothing }
}

/// What a word of an operator's takes that lets later calls pass: as much as the approval of such a call, by the machine's policy and
/// the operator's own.
pub fn word_needs(places: &Places, danger: Danger) -> Needs {
    let own = policy_file::text_if_any(&places.policy_file()).ok().flatten();
    let own = own.and_then(|text| policy_file::read(&text).ok()).map_or(Required::Never, |policy| policy.signed);
    Machine::of(places).required.max(own).asks(danger)
}

/// What a signature over a change covers, made on this machine by this user.
pub fn change(kind: ChangeKind, of: String, changes: Vec<Digest>) -> ChangeTerms {
    ChangeTerms { changes, kind, machine: user::machine(), of, user: user::name() }
}

/// Checks the signature over a change by the lists in force.
///
/// # Errors
/// Why it does not count.
pub fn signed(places: &Places, evidence: &Evidence) -> Result<(SignedChange, InForce), String> {
    let lists = load(places).map_err(|error| error.to_string())?.ok_or("there is no list of signers")?;
    let signed = SignedChange::check(evidence.clone(), &lists.signers).map_err(|why| why.to_string())?;
    Ok((signed, lists))
}

/// The proof that a change may be made now.
///
/// # Errors
/// Why it may not.
pub fn proof(
    places: &Places,
    needs: Needs,
    evidence: Option<&Evidence>,
    (terms, now): (&ChangeTerms, i64),
) -> Result<Proof, String> {
    let Some(evidence) = evidence else { return Proof::unsigned(needs) };
    let (signed, lists) = signed(places, evidence)?;
    Proof::signed(&signed, &lists, terms, now).map_err(|why| why.to_string())
}

/// Where the lists are, whether they exist or not.
pub fn files(places: &Places) -> [PathBuf; 4] {
    let (system, own) = (places.system_dir(), places.config_dir());
    [system.join("allowed_signers"), own.join("allowed_signers"), system.join("revoked_keys"), own.join("revoked_keys")]
}

struct Machine {
    /// Who can change the policy that asks for some; `None` where it asks for none.
    asks: Option<Owner>,
    /// The same, where it asks for signatures or for signs of life: only the machine's list counts.
    list: Option<Owner>,
    required: Required,
    ssh_keygen: Option<(PathBuf, Owner)>,
}

impl Machine {
    fn of(places: &Places) -> Self {
        let file = places.system_policy_file();
        let owner = || open(&file).map_or(Owner::Root, |opened| opened.owner);
        match policy_file::text_if_any(&file).map(|text| text.map(|text| policy_file::read(&text))) {
            Ok(None) => Self { asks: None, list: None, required: Required::Never, ssh_keygen: None },
            Ok(Some(Ok(policy))) => Self {
                asks: policy.asks_for_signatures().then(owner),
                list: (policy.asks_for_signatures() || policy.life == LifeSign::Required).then(owner),
                required: policy.signed,
                ssh_keygen: policy.ssh_keygen.map(|named| (named.into(), owner())),
            },
            // One that cannot be read may ask for them, always.
            Ok(Some(Err(_))) | Err(_) => {
                Self { asks: Some(owner()), list: Some(owner()), required: Required::Always, ssh_keygen: None }
            }
        }
    }
}

/// The program that signs, if only root can change it: the one that root's policy names, or the usual one.
/// Errors: it is not there, or another user can put another program in its place.
pub fn keygen(places: &Places) -> Result<PathBuf, String> {
    let named = match Machine::of(places).ssh_keygen {
        Some((named, Owner::Root)) => named,
        Some((named, Owner::User)) => {
            return Err(format!("{} is not run: a policy that others than root can change names it", named.display()));
        }
        None => KEYGEN.into(),
    };
    program(named)
}

/// A program, if only root can change it.
pub fn program(named: PathBuf) -> Result<PathBuf, String> {
    let opened = open(&named).map_err(|cause| format!("{} cannot be run: {cause}", named.display()))?;
    match opened.owner {
        Owner::Root if opened.found.is_file() => Ok(named),
        _ => {
            Err(format!("{} is not run: it, or a folder above it, can be changed by others than root", named.display()))
        }
    }
}

/// A whole text of a bounded length, and who can change it; `None` where there is no such file.
fn read(path: &Path) -> Result<Option<(String, Owner)>, SignersError> {
    let unreadable = |cause| SignersError::Unreadable { path: path.into(), cause };
    let Opened { file, found, owner } = match open(path) {
        Ok(opened) => opened,
        // A link to nothing is a mistake, not an absence.
        Err(cause) if cause.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => return Ok(None),
        Err(cause) => return Err(unreadable(cause)),
    };
    check_owner(path, &found)?;
    let mut text = String::new();
    // A byte more than the reader takes, so that it says what is too long.
    if !found.is_file() || found.len() > LONGEST as u64 + 1 {
        return Err(unreadable(io::Error::other("it is not a plain file, or very long")));
    }
    file.take(LONGEST as u64 + 1).read_to_string(&mut text).map_err(unreadable)?;
    Ok(Some((text, owner)))
}

const MOST_LINKS: u32 = 40;

/// How a folder is opened that may be passed and not listed.
#[cfg(target_os = "linux")]
const PASS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const PASS: OFlags = OFlags::RDONLY;

#[derive(Debug)]
pub struct Opened {
    pub file: File,
    pub found: Metadata,
    /// [`Owner::Root`] where root alone can change the file, each folder on the way to it, and each link that was followed.
    pub owner: Owner,
}

/// Opens a file to read it, by its absolute path.
/// Errors: as opening does; `InvalidInput` for a relative path.
pub fn open(path: &Path) -> io::Result<Opened> {
    if !path.is_absolute() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not absolute"));
    }
    let mut owner = Owner::Root;
    let mut left = names(path);
    let mut links = 0;
    let root = || openat(CWD, "/", PASS | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty());
    let mut folder = root()?;
    loop {
        owner = owner.and(of(&File::from(folder.try_clone()?).metadata()?));
        let Some(name) = left.pop() else { return Err(Errno::ISDIR.into()) };
        let is_last = left.is_empty();
        match enter(&folder, &name, is_last) {
            Ok(entered) if is_last => {
                let file = File::from(entered);
                let found = file.metadata()?;
                let owner = owner.and(of(&found));
                return Ok(Opened { file, found, owner });
            }
            Ok(entered) => folder = entered,
            // A link: where it leads is read from the folder that was looked at, which root alone can change or not.
            Err(error) => {
                let Ok(target) = readlinkat(&folder, &name, Vec::new()) else { return Err(error.into()) };
                links += 1;
                if links > MOST_LINKS {
                    return Err(Errno::LOOP.into());
                }
                let target = OsString::from_vec(target.into_bytes());
                if Path::new(&target).is_absolute() {
                    folder = root()?;
                }
                left.extend(names(Path::new(&target)));
            }
        }
    }
}

fn enter(folder: &OwnedFd, name: &OsStr, is_last: bool) -> rustix::io::Result<OwnedFd> {
    // A pipe must not wait for its writer.
    let last = OFlags::RDONLY | OFlags::NONBLOCK;
    let flags = if is_last { last } else { PASS | OFlags::DIRECTORY };
    openat(folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// The names on a way, the last one first.
fn names(path: &Path) -> Vec<OsString> {
    let named = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    let mut named: Vec<OsString> = named.collect();
    named.reverse();
    named
}

fn of(found: &Metadata) -> Owner {
    if found.uid() == 0 && found.mode() & 0o022 == 0 { Owner::Root } else { Owner::User }
}
