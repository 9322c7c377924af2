//! Which policy files apply to one wrapped server, whether each is accepted, and what is new in them. Rules on no call.
//!
//! System, user, project (in the server's folder) and run (`--policy`). The first text found in a file is taken as it is, except a
//! project's; a missing file is an accepted empty policy. What tightens counts at once; the rest waits until it is accepted.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use similar::TextDiff;

use crate::home::places::{Places, under};
use crate::home::policy_file::{self, Accepted, Broken, PolicyPlace, Why};
use crate::home::signers;
use crate::pins::launch::stamp;
use crate::policy::layers::{Contribution, FileState, but, loosened, nothing, pool, strictest};
use crate::policy::rule::{Given, Layer};
use crate::policy::{Policy, Roots, parse};
use crate::signing::change::{ChangeKind, ChangeTerms, Proof};
use crate::signing::{Needs, statement::Evidence};
use crate::wire::Digest;

/// A project's own policy, in the folder that its servers run in.
pub const PROJECT: &str = ".mcp-approve.toml";
const DIFF: usize = 16 << 10;
/// How long texts are compared: a server must not wait for its policy because someone filled the file.
const COMPARING: Duration = Duration::from_millis(200);

#[derive(Debug)]
pub struct Layers {
    places: Places,
    files: Vec<LayerFile>,
    accepted: Accepted,
    roots: Roots,
    /// The last sound text of each file in this process: its asks and denies outlive a broken one.
    last: BTreeMap<PathBuf, Policy>,
    /// The copies seen in this process, so that removing one makes no text the first.
    kept: BTreeMap<PathBuf, String>,
    /// What each file and its copy looked like when it was read; `None` where there was none.
    stamps: Vec<Option<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerFile {
    pub layer: Layer,
    pub place: PolicyPlace,
}

/// A file as it was found.
enum Found {
    Sound(Box<Sound>),
    Broken { banner: String, before: Vec<Policy> },
}

/// A file that can be read: its text and that of its copy, the copy as far as it counts, and the policies of both.
struct Sound {
    text: Option<String>,
    now: Policy,
    kept: Option<String>,
    counted: Option<String>,
    was: Option<Policy>,
}

impl Found {
    /// The policies of its texts.
    fn policies(&self) -> Vec<&Policy> {
        match self {
            Self::Sound(sound) => sound.was.iter().chain([&sound.now]).collect(),
            Self::Broken { before, .. } => before.iter().collect(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AcceptError {
    #[error("this wrapper does not read that policy")]
    NotRead,
    #[error("the policy {0}; fix it first")]
    Unusable(Why),
    #[error("the policy has changed again since it was shown; look at it again")]
    Changed,
    #[error("the policy has changed again since it was shown, or no longer waits; look at it again")]
    NotPending,
    #[error("it is not signed: {0}")]
    Unsigned(String),
    #[error("the acceptance could not be kept: {0}; run `mcp-approve doctor`")]
    NotKept(io::Error),
}

/// Whether reading may keep copies of texts that need no acceptance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keeps {
    /// The first text found, and what only tightens.
    Copies,
    /// Nothing: it only looks.
    Nothing,
}

impl Layers {
    /// The files for a server that runs in `folder`; `named` is what `--policy` names.
    pub fn of(places: &Places, folder: Option<&Path>, named: &PolicyPlace) -> Self {
        let usual = |layer, path| LayerFile { layer, place: PolicyPlace::Usual(path) };
        let mut files =
            vec![usual(Layer::System, places.system_policy_file()), usual(Layer::User, places.policy_file())];
        files.extend(folder.map(|folder| usual(Layer::Project, folder.join(PROJECT))));
        if let PolicyPlace::Named(path) = named {
            files.push(LayerFile { layer: Layer::Run, place: PolicyPlace::Named(path.clone()) });
        }
        let accepted = Accepted::of(places);
        Self {
            files,
            places: places.clone(),
            accepted,
            roots: policy_file::roots(),
            last: BTreeMap::new(),
            kept: BTreeMap::new(),
            stamps: Vec::new(),
        }
    }

    /// The files that can apply, whether they exist or not.
    pub fn files(&self) -> &[LayerFile] {
        &self.files
    }

    /// Reads all files and pools them. The policy's banner says what is broken; that allows nothing.
    pub fn load(&mut self, keeps: Keeps) -> Policy {
        // The stamps are taken before the files are read: a change in between is found the next time.
        self.stamps = self.look();
        let mut policy = pool(&self.contributions(keeps), &self.roots);
        policy.banner = policy.banner.map(|banner| under(self.places.root(), &banner));
        policy.level = signers::level(&self.places);
        let needs = signers::changes_need(&self.places);
        policy.pending.iter_mut().for_each(|one| one.needs = needs);
        policy
    }

    /// Pools the files as they are written, as if all of it were accepted, to try them.
    pub fn as_written(&self) -> Result<Policy, Broken> {
        let found = self.present().map(|file| {
            let state = FileState::Whole(Box::new(policy_file::load(&file.place)?));
            Ok(Contribution { layer: file.layer, file: file.place.path().display().to_string().into(), state })
        });
        Ok(pool(&found.collect::<Result<Vec<_>, Broken>>()?, &self.roots))
    }

    /// Pools the files as they are, and this one as if its text with this digest were accepted, to try it.
    pub fn if_accepted(&mut self, path: &Path, digest: Digest) -> Result<Policy, AcceptError> {
        let mut waits = false;
        let mut found = self.contributions(Keeps::Nothing);
        for one in &mut found {
            if let FileState::Changed { now, .. } = &one.state
                && Path::new(&*one.file) == path
                && now.digest == digest
            {
                (waits, one.state) = (true, FileState::Whole(now.clone()));
            }
        }
        if waits { Ok(pool(&found, &self.roots)) } else { Err(AcceptError::NotPending) }
    }

    /// The files that are there, or should be: a link to nowhere, or what an option names.
    pub fn present(&self) -> impl Iterator<Item = &LayerFile> {
        let there = |file: &&LayerFile| match &file.place {
            PolicyPlace::Usual(path) => path.symlink_metadata().is_ok(),
            PolicyPlace::Named(_) => true,
        };
        self.files.iter().filter(there)
    }

    /// Where the files, their accepted copies and the lists of signers are: what [`Self::changed`] looks at.
    pub fn paths(&self) -> Vec<PathBuf> {
        let paths = self.files.iter().flat_map(|file| {
            let path = file.place.path();
            [path.to_owned(), self.accepted.copy(path)]
        });
        paths.chain(signers::files(&self.places)).collect()
    }

    /// Reads the policy again, if a file or its accepted copy has changed.
    pub fn changed(&mut self) -> Option<Policy> {
        (self.look() != self.stamps).then(|| self.load(Keeps::Copies))
    }

    /// What a signature over the acceptance of a text covers.
    pub fn change(file: &Path, text: Digest) -> ChangeTerms {
        signers::change(ChangeKind::Policy, file.display().to_string(), vec![text])
    }

    /// Accepts a file's text if it still has this digest; with a signature, where the machine's policy asks for one.
    pub fn accept(
        &self,
        file: &Path,
        digest: Digest,
        signed: Option<&Evidence>,
        now: i64,
    ) -> Result<Proof, AcceptError> {
        if !self.files.iter().any(|known| known.place.path() == file) {
            return Err(AcceptError::NotRead);
        }
        let text = policy_file::text_if_any(file).map_err(AcceptError::Unusable)?;
        if Digest::of(text.as_deref().unwrap_or_default().as_bytes()) != digest {
            return Err(AcceptError::Changed);
        }
        let (needs, terms) = (signers::changes_need(&self.places), Self::change(file, digest));
        let proof = signers::proof(&self.places, needs, signed, (&terms, now)).map_err(AcceptError::Unsigned)?;
        if let Some(signed) = signed {
            self.accepted.sign(file, signed).map_err(AcceptError::NotKept)?;
        }
        self.accepted.accept(file, text.as_deref()).map_err(AcceptError::NotKept)?;
        Ok(proof)
    }

    /// Whether a signature accepts a text, by the lists in force.
    fn is_signed(&self, signed: &Evidence, file: &Path, text: Digest) -> Result<(), String> {
        signers::signed(&self.places, signed)?.0.covers(&Self::change(file, text)).map_err(|why| why.to_string())
    }

    fn contributions(&mut self, keeps: Keeps) -> Vec<Contribution> {
        let files = self.files.clone();
        let found: Vec<Option<Found>> = files.iter().map(|file| self.find(file, keeps)).collect();
        // What a file loosens depends on the defaults of the others.
        let given = |found: &Option<Found>| {
            let policies = found.iter().flat_map(Found::policies);
            policies.map(|policy| policy.given).fold(Given::default(), strictest)
        };
        let given: Vec<Given> = found.iter().map(given).collect();
        let all = files.iter().zip(found).enumerate().filter_map(|(at, (file, found))| {
            let state = match found? {
                Found::Broken { banner, before } => FileState::Broken { banner, before },
                Found::Sound(sound) => self.state(file, *sound, but(&given, at), keeps)?,
            };
            Some(Contribution { layer: file.layer, file: file.place.path().display().to_string().into(), state })
        });
        all.collect()
    }

    /// Reads a file, and what of it was accepted; `None` where there is none, and none was accepted.
    fn find(&mut self, file: &LayerFile, keeps: Keeps) -> Option<Found> {
        match self.read(file, keeps) {
            Ok(sound) => Some(Found::Sound(Box::new(sound?))),
            Err(broken) => {
                let path = file.place.path();
                // Of the machine's file, a copy could be anybody's: what this process read last counts alone.
                let own = Some(path).filter(|_| file.layer != Layer::System);
                let accepted = own.and_then(|path| self.accepted.text(path).ok().flatten());
                let accepted = accepted.and_then(|text| parse::parse_at(&text, &self.roots).ok());
                let before = accepted.into_iter().chain(self.last.get(path).cloned()).collect();
                let banner = format!("{}. Until then, what is not denied asks", broken.banner());
                Some(Found::Broken { banner, before })
            }
        }
    }

    fn read(&mut self, file: &LayerFile, keeps: Keeps) -> Result<Option<Sound>, Broken> {
        let path = file.place.path();
        let broken = |why| Broken { path: path.into(), why };
        let text = policy_file::text_at(&file.place).inspect_err(|broken| {
            if matches!(&broken.why, Why::Unreadable(error) if error.kind() == io::ErrorKind::NotFound) {
                self.accept_absence(file, keeps);
            }
        })?;
        let read = |text: &str| parse::parse_at(text, &self.roots).map_err(|problems| broken(Why::Problems(problems)));
        let now = text.as_deref().map(read).transpose()?;
        if file.layer == Layer::System {
            match &now {
                Some(now) => drop(self.last.insert(path.into(), now.clone())),
                None => drop(self.last.remove(path)),
            }
            return Ok(now.map(|now| Sound { text, now, kept: None, counted: None, was: None }));
        }
        if now.as_ref().is_some_and(|now| now.ssh_keygen.is_some()) {
            return Err(broken(Why::Program));
        }
        let kept = self.accepted.text(path).map_err(broken)?.or_else(|| self.kept.get(path).cloned());
        let needs = signers::changes_need(&self.places);
        // Where the machine's policy asks for signatures, a copy without one was never accepted.
        let is_counted = |kept: &String| {
            let signed = || self.accepted.signature(path).ok_or(String::new());
            needs == Needs::Nothing
                || signed().is_ok_and(|signed| self.is_signed(&signed, path, Digest::of(kept.as_bytes())).is_ok())
        };
        let counted = kept.clone().filter(is_counted);
        let was = match (&counted, file.layer) {
            (None, _) if needs == Needs::Signature => Some(nothing(&self.roots)),
            // A copy that this version cannot read is no reason to trust the new text.
            (Some(kept), _) => Some(parse::parse_at(kept, &self.roots).unwrap_or_else(|_| nothing(&self.roots))),
            (None, Layer::Project) => Some(nothing(&self.roots)),
            // A missing copy was removed: the text found now is not the first.
            (None, Layer::User) if self.accepted.is_expected() => Some(nothing(&self.roots)),
            (None, _) => None,
        };
        if let Some(kept) = &kept {
            self.kept.insert(path.into(), kept.clone());
        }
        if now.is_none() && kept.as_deref().is_none_or(str::is_empty) {
            self.accept_absence(file, keeps);
            return Ok(None);
        }
        let now = now.unwrap_or_else(|| nothing(&self.roots));
        self.last.insert(path.into(), now.clone());
        Ok(Some(Sound { text, now, kept, counted, was }))
    }

    /// The state of a file that can be read, beside others that give so much; `None` where there is none and that was accepted.
    fn state(&mut self, file: &LayerFile, sound: Sound, others: Given, keeps: Keeps) -> Option<FileState> {
        let Sound { text, now, kept, counted, was } = sound;
        let path = file.place.path();
        if let Some(accepted) = was.filter(|was| !loosened(was, &now, others).is_empty()) {
            let diff = diff(counted.as_deref().unwrap_or_default(), text.as_deref().unwrap_or_default());
            return Some(FileState::Changed { now: Box::new(now), accepted: Box::new(accepted), diff });
        }
        // The machine's file is never accepted, and the copy that was signed stays what changes are compared with.
        let is_kept = file.layer == Layer::System || signers::changes_need(&self.places) == Needs::Signature;
        if keeps == Keeps::Copies && kept != text && !is_kept {
            self.kept.insert(path.into(), text.clone().unwrap_or_default());
            // If it cannot be kept, the next change is compared with an older text: stricter, never looser.
            if let Err(error) = self.accepted.accept(path, text.as_deref()) {
                tracing::warn!(%error, "a policy's text was not kept");
            }
        }
        text.is_some().then_some(FileState::Whole(Box::new(now)))
    }

    /// Remembers that there was no file: one that appears later loosens nothing until it is accepted.
    fn accept_absence(&mut self, file: &LayerFile, keeps: Keeps) {
        let path = file.place.path();
        // The machine's files are always taken as they are, and a project's never without acceptance.
        if matches!(file.layer, Layer::System | Layer::Project) || self.kept.contains_key(path) {
            return;
        }
        self.kept.insert(path.into(), String::new());
        if keeps == Keeps::Copies
            && matches!(self.accepted.text(path), Ok(None))
            && let Err(error) = self.accepted.accept(path, None)
        {
            tracing::warn!(%error, "that there is no policy was not kept");
        }
    }

    fn look(&self) -> Vec<Option<String>> {
        self.paths().iter().map(|path| stamp(path).ok()).collect()
    }
}

/// A unified diff, cut if it is long, and coarse if a fine one takes too long.
pub fn diff(old: &str, new: &str) -> String {
    let compared = TextDiff::configure().timeout(COMPARING).diff_lines(old, new);
    let mut text = compared.unified_diff().context_radius(2).to_string();
    if text.len() > DIFF {
        text.truncate(text.floor_char_boundary(DIFF));
        text.push_str("\n[cut here: compare the files themselves]\n");
    }
    text
}
