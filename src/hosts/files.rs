//! The hosts' files on this machine: which there are, their texts, and how one is replaced. A file is written whole beside the
//! old one and takes its place with its mode and owner; links are followed and stay.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};

use crate::home::replace::{replace, replace_if};
use crate::hosts::change::{Changed, Record};
use crate::hosts::table::{HOSTS, Host};
use crate::hosts::tree::{Refusal, Syntax};
use crate::wire::digest::Digest;

/// The longest list that is read, in bytes.
const LONGEST: u64 = 32 << 20;

/// How often a file may change under our hands before we give up.
const TRIES: u32 = 5;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    pub home: PathBuf,
    /// The project that is worked in.
    pub folder: Option<PathBuf>,
    /// The hosts' own environment variables that are set, with their values.
    pub variables: Vec<(String, PathBuf)>,
    /// Whether files for every user of the machine are looked at.
    pub system: bool,
}

/// A file that a host reads its servers from.
#[derive(Clone, Debug)]
pub struct Found {
    pub host: &'static Host,
    pub file: PathBuf,
    pub syntax: Syntax,
    /// Whether it is the manifest of a bundle, which is never changed.
    pub is_bundle: bool,
}

impl Found {
    fn new(host: &'static Host, file: PathBuf) -> Self {
        Self { host, syntax: syntax(&file), file, is_bundle: false }
    }
}

impl Search {
    /// In this user's home, this folder, and where the environment says that hosts keep their files.
    pub fn here(home: PathBuf) -> Self {
        let value = |(name, _): &(&str, &str)| Some(((*name).to_owned(), PathBuf::from(std::env::var_os(name)?)));
        let variables = HOSTS.iter().flat_map(|host| &host.variables).filter_map(value).collect();
        Self { home, folder: std::env::current_dir().ok(), variables, system: true }
    }

    /// The variables that tell hosts of another place for their list, and that are not set: such a host's list is not seen.
    pub fn unset(&self, found: &[Found]) -> Vec<&'static str> {
        let hosts = HOSTS.iter().filter(|host| found.iter().any(|one| one.host.word == host.word));
        let names = hosts.flat_map(|host| host.variables.iter().map(|(name, _)| *name));
        let mut unset: Vec<&str> = names.filter(|name| !self.variables.iter().any(|(set, _)| set == name)).collect();
        unset.sort_unstable();
        unset.dedup();
        unset
    }

    /// The folder that is worked in and those above it, up to the repository's; without a repository, that folder alone.
    fn project(&self) -> Vec<&Path> {
        let folders = || self.folder.iter().flat_map(|folder| folder.ancestors());
        let above = folders().position(|folder| folder.join(".git").exists()).unwrap_or(0);
        folders().take(above + 1).collect()
    }

    /// Every file that is there, each once, in the order of the table.
    pub fn files(&self) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        for host in HOSTS.iter() {
            let home = host.home.iter().map(|path| (self.home.as_path(), path));
            let variables = host.variables.iter().flat_map(|(name, path)| {
                let set = self.variables.iter().filter(move |(set, _)| set == name);
                set.map(move |(_, value)| (value.as_path(), path))
            });
            let project =
                host.project.iter().flat_map(|path| self.project().into_iter().map(move |below| (below, path)));
            let system = host.system.iter().filter(|_| self.system).map(|path| (Path::new("/"), path));
            let places = home.chain(variables).chain(project).chain(system).filter(|(below, _)| below.is_absolute());
            for file in places.flat_map(|(below, path)| matching(below, path)) {
                // In the home folder, a user's file and the project's may be the same file.
                if !found.iter().any(|one| one.file == file) {
                    found.push(Found::new(host, file));
                }
            }
            let bundles = host.bundles.iter().flat_map(|path| matching(&self.home, path));
            found.extend(bundles.map(|file| Found { is_bundle: true, ..Found::new(host, file) }));
        }
        found
    }
}

fn syntax(file: &Path) -> Syntax {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("toml") => Syntax::Toml,
        Some("yaml" | "yml") => Syntax::Yaml,
        _ => Syntax::Json,
    }
}

/// What is there under a path, where `*` stands for any characters of one name.
fn matching(below: &Path, path: &str) -> Vec<PathBuf> {
    let mut found = vec![below.to_path_buf()];
    for part in path.split('/').filter(|part| !part.is_empty()) {
        found = match part.split_once('*') {
            None => found.into_iter().map(|one| one.join(part)).collect(),
            Some((before, after)) => {
                let names = |folder: PathBuf| {
                    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
                    let fits = |name: &str| {
                        name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
                    };
                    let mut names: Vec<String> = entries.filter_map(|one| one.file_name().into_string().ok()).collect();
                    names.retain(|name| fits(name));
                    names.sort_unstable();
                    names.into_iter().map(move |name| folder.join(name))
                };
                found.into_iter().flat_map(names).collect()
            }
        };
    }
    found.retain(|file| fs::symlink_metadata(file).is_ok());
    found
}

/// A file's text; `None` where there is no such file.
pub fn text(file: &Path) -> Result<Option<String>, Refusal> {
    // Not waiting for the writer of a pipe.
    let opened = match OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(file) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !opened.metadata().is_ok_and(|found| found.is_file()) {
        return Err("it is not a plain file".into());
    }
    let mut text = String::new();
    match opened.take(LONGEST + 1).read_to_string(&mut text) {
        Ok(_) if text.len() as u64 > LONGEST => Err("it is too long".into()),
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(error.into()),
    }
}

/// Whether a new text is written or only made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    Never,
    Now,
}

/// A file's old text and what became of it.
#[derive(Clone, Debug)]
pub struct Edited {
    pub before: String,
    pub changed: Changed,
}

/// Gives a file a new text, made from its text and what is remembered of it under `records`. Where another
/// program writes it meanwhile, nothing is overwritten: the work is repeated with the new text.
pub fn edit(
    found: &Found,
    records: &Path,
    write: Write,
    work: &dyn Fn(super::change::File<'_>) -> Result<Changed, Refusal>,
) -> Result<Edited, Refusal> {
    let path = fs::canonicalize(&found.file)?;
    let place = record_place(records, &path);
    for _ in 0..TRIES {
        let before = text(&path)?.ok_or("it is gone")?;
        let record = read_record(&place)?;
        let (host, syntax) = (found.host, found.syntax);
        let changed = work(super::change::File { host, syntax, path: path.clone(), text: &before, record })?;
        if write == Write::Never {
            return Ok(Edited { before, changed });
        }
        if changed.text != before {
            may_replace(&path)?;
            // Recorded before the file is written: if the write never happens, the record undoes nothing.
            if let Some(record) = &changed.record {
                replace(&place, &serde_json::to_string(record)?).map_err(|error| about(&place, &error.to_string()))?;
            }
            if !replace_same(&path, &before, &changed.text)? {
                continue;
            }
        }
        if changed.record.is_none() {
            forget(&place)?;
        }
        return Ok(Edited { before, changed });
    }
    Err("another program keeps changing it: close the host, and try again".into())
}

/// The files remembered under `records`; one may be gone. An unreadable record is reported when its file is edited.
pub fn remembered(records: &Path) -> Vec<Found> {
    let entries = fs::read_dir(records).into_iter().flatten().flatten();
    let record = |entry: fs::DirEntry| read_record(&entry.path()).ok().flatten();
    let found = |record: Record| {
        let host = HOSTS.iter().find(|host| host.word == record.host)?;
        Some(Found::new(host, record.file))
    };
    let mut files: Vec<Found> = entries.filter_map(record).filter_map(found).collect();
    files.sort_unstable_by(|one, other| one.file.cmp(&other.file));
    files
}

pub fn forget_file(records: &Path, file: &Path) -> Result<(), Refusal> {
    forget(&record_place(records, file))
}

fn record_place(records: &Path, file: &Path) -> PathBuf {
    records.join(format!("{}.json", Digest::of(file.as_os_str().as_encoded_bytes()).short()))
}

fn read_record(place: &Path) -> Result<Option<Record>, Refusal> {
    let Some(text) = text(place).map_err(|why| about(place, &why.0))? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| about(place, &error.to_string()))
}

fn about(place: &Path, why: &str) -> Refusal {
    format!("what is remembered of it cannot be used ({}: {why})", place.display()).into()
}

fn forget(place: &Path) -> Result<(), Refusal> {
    match fs::remove_file(place) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(about(place, &error.to_string())),
        Ok(()) | Err(_) => {}
    }
    // The folder goes with the last record.
    if let Some(folder) = place.parent() {
        let _ = fs::remove_dir(folder);
    }
    Ok(())
}

/// Whether a file may be replaced without losing what is not its text.
fn may_replace(path: &Path) -> Result<(), Refusal> {
    let found = fs::metadata(path)?;
    let writable = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if found.mode() & 0o200 == 0 || !writable(path) {
        return Err("it is read-only: make it writable (chmod u+w), and try again".into());
    }
    if found.nlink() > 1 {
        let names = found.nlink();
        return Err(format!("it has {names} names (hard links), and only one of them would get the new text").into());
    }
    match path.parent() {
        Some(folder) if writable(folder) => Ok(()),
        _ => Err("its folder is read-only: a new text is written beside the old one first".into()),
    }
}

/// Puts a new text in a file's place; `false` if the file is no longer as it was read.
fn replace_same(path: &Path, before: &str, after: &str) -> Result<bool, Refusal> {
    let prepare = |new: &File| {
        let (old, made) = (fs::metadata(path)?, new.metadata()?);
        if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
            fchown(new, Some(old.uid()), Some(old.gid()))?;
        }
        new.set_permissions(Permissions::from_mode(old.mode() & 0o7777))
    };
    replace_if(path, after, prepare, || Ok(fs::read(path)? == before.as_bytes()))
        .map_err(|error| format!("its new text could not be written: {error}").into())
}
