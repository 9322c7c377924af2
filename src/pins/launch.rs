//! The fingerprint of a command line, of the files that it runs, and of the environment that decides what they run.
//!
//! What a program loads besides is not looked at: of a package only the version in the command line counts.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use crate::behavior::secrets;
use crate::wire::digest::{Digest, Hasher, StreamHasher};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The server's name in rules and tickets, without `#2`.
    pub name: String,
    /// The digest over every word of the command line.
    pub fingerprint: Digest,
    /// The program and what it runs, for people: the words between may hold secrets.
    pub shown: String,
    /// The whole command line, with anything that looks like a secret hidden.
    pub words: Vec<String>,
    /// `npm:NAME` or `pypi:NAME`, where that is certain.
    pub package: Option<String>,
    /// The program as the command line names it.
    program: OsString,
    /// What a runner (an interpreter, a package runner) is given to run; `None` when the program is the server itself.
    target: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub path: PathBuf,
    /// Whether its content counts, or only its path: an interpreter is updated, a server's own file is not.
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    Content,
    Place,
}

impl Launch {
    /// The launch of a command line that is not empty; `target` is the word that a known runner is given to run.
    pub fn new(name: &str, command: &[OsString], target: Option<String>, package: Option<String>) -> Self {
        let mut hasher = Hasher::default();
        for word in command {
            hasher.update(&(word.len() as u64).to_be_bytes());
            hasher.update(word.as_bytes());
        }
        let program = command.first().cloned().unwrap_or_default();
        let target = target.filter(|target| OsStr::new(target) != program);
        let base = Path::new(&program).file_name().unwrap_or(&program).to_string_lossy().into_owned();
        let shown = match &target {
            Some(target) => format!("{base} {target}"),
            None => base,
        };
        let words = without_secrets(command);
        Self { name: name.to_owned(), fingerprint: hasher.finish(), shown, words, package, program, target }
    }

    /// The files that are run and that the command line names.
    pub fn parts(&self) -> Vec<Part> {
        let counts = if self.target.is_some() { Counts::Place } else { Counts::Content };
        let program = found(&self.program).map(|path| match counts {
            // Only an interpreter's own path counts, not where a link there leads.
            Counts::Place => Part { path, counts },
            Counts::Content => Part { path: path.canonicalize().unwrap_or(path), counts },
        });
        let target = self.target.as_ref().map(PathBuf::from).filter(|path| path.is_file());
        let target = target.and_then(|path| path.canonicalize().ok());
        program.into_iter().chain(target.map(|path| Part { path, counts: Counts::Content })).collect()
    }
}

/// The variables that decide what a server runs or works on, each with a digest of its value, which may hold a secret.
pub fn environment(set: impl Iterator<Item = (OsString, OsString)>) -> Vec<String> {
    const NAMES: &str = include_str!("../../assets/environment.txt");
    let counts = |name: &str| {
        NAMES.lines().any(|known| match known.strip_suffix('*') {
            Some(begin) => !begin.starts_with('#') && name.starts_with(begin),
            None => known == name,
        })
    };
    let line = |(name, value): (OsString, OsString)| {
        let name = name.into_string().ok().filter(|name| counts(name) && !value.is_empty())?;
        let mut hasher = StreamHasher::default();
        hasher.update(without_mounts(&value.to_string_lossy()).as_bytes());
        Some(format!("environment {name} {}", hasher.finish()))
    };
    let mut lines: Vec<String> = set.filter_map(line).collect();
    lines.sort_unstable();
    lines
}

/// A value without the six characters that an AppImage makes up each time it is started: `/tmp/.mount_Editorx7Kq2w/usr/lib`.
fn without_mounts(value: &str) -> String {
    const MOUNT: &str = "/tmp/.mount_";
    let mut pieces = value.split(MOUNT);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        let end = piece.find(['/', ':']).unwrap_or(piece.len());
        let name = piece.get(..end.saturating_sub(6)).unwrap_or_default();
        text + MOUNT + name + piece.get(end..).unwrap_or_default()
    })
}

/// The words of a command line for people and files: a secret is hidden behind its flag, and anywhere within a word.
fn without_secrets(command: &[OsString]) -> Vec<String> {
    const HIDDEN: &str = "(hidden)";
    let mut is_secret = false;
    let word = |word: &OsString| {
        let text = word.to_string_lossy().into_owned();
        if std::mem::replace(&mut is_secret, secrets::is_secret_flag(&text)) && !text.starts_with('-') {
            return HIDDEN.to_owned();
        }
        let (mut shown, mut end) = (String::new(), 0);
        for span in secrets::spans(&text) {
            shown.push_str(text.get(end..span.start).unwrap_or_default());
            shown.push_str(HIDDEN);
            end = span.end;
        }
        shown + text.get(end..).unwrap_or_default()
    };
    command.iter().map(word).collect()
}

fn found(program: &OsStr) -> Option<PathBuf> {
    let runs =
        |path: &Path| fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0);
    let path = if program.as_bytes().contains(&b'/') {
        PathBuf::from(program)
    } else {
        let places = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
        std::env::split_paths(&places).map(|place| place.join(program)).find(|path| runs(path))?
    };
    std::path::absolute(path).ok()
}

/// What shows that a file has not changed: device, inode, size, mtime and ctime.
pub fn stamp(path: &Path) -> io::Result<String> {
    let found = fs::metadata(path)?;
    let (dev, ino, size) = (found.dev(), found.ino(), found.size());
    let (content, change) = ((found.mtime(), found.mtime_nsec()), (found.ctime(), found.ctime_nsec()));
    Ok(format!("{dev} {ino} {size} {}.{} {}.{}", content.0, content.1, change.0, change.1))
}

pub fn digest(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = StreamHasher::default();
    let mut buffer = vec![0; 256 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish().to_string()),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
