//! Which list of signers counts, who can change it, and which program may sign: what the machine's policy asks for, only the
//! machine's own files satisfy.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use mcp_approve::home::layers::{Keeps, Layers};
use mcp_approve::home::places::Places;
use mcp_approve::home::policy_file::{Accepted, PolicyPlace};
use mcp_approve::home::signers;
use mcp_approve::home::signers::{SignersError, keygen, load, word_needs};
use mcp_approve::policy::rule::Decision;
use mcp_approve::signing::Required;
use mcp_approve::signing::change::{Change, NAMESPACE};
use mcp_approve::signing::grade::{Danger, Needs, Owner};
use mcp_approve::signing::sshsig::PublicKey;
use mcp_approve::signing::statement::Evidence;
use mcp_approve::wire::digest::Digest;

use crate::signing::bed::{Key, Making, NOW, armored};

const ASKS: &str = "version = 1\n[operator]\nsigned = \"dangerous\"\n";
const TWO: &str = "version = 1\n[[rule]]\nid = \"two\"\ndecision = \"ask\"\ntool = \"*\"\napprovals = 2\n";

pub struct Home {
    pub folder: tempfile::TempDir,
    pub places: Places,
}

impl Home {
    fn of(folder: tempfile::TempDir) -> Self {
        let places = Places::under(folder.path()).unwrap();
        for dir in [places.system_dir(), places.config_dir().to_owned()] {
            fs::create_dir_all(dir).unwrap();
        }
        Self { folder, places }
    }

    pub fn new() -> Self {
        Self::of(tempfile::tempdir().unwrap())
    }

    /// A home that root alone can change; `None` where we are not root.
    fn roots() -> Option<Self> {
        let folder = tempfile::tempdir_in("/root").ok();
        if folder.is_none() {
            println!("skipped: only root can make files of root's");
        }
        folder.map(Self::of)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }
}

pub fn key(seed: u8) -> Key {
    Key::new("ssh-ed25519", seed)
}

#[test]
fn the_users_list_does_not_satisfy_the_machines_policy() {
    let list = format!("mara@example.com {}\n", key(1).line());
    let lives = "version = 1\n[desk]\nrequired = true\n";
    for (policy, counts) in [("version = 1\n", true), (ASKS, false), (TWO, false), (lives, false), ("nonsense", false)]
    {
        let home = Home::new();
        home.write("etc/policy.toml", policy);
        home.write("config/allowed_signers", &list);
        let found = load(&home.places);
        assert_eq!(matches!(&found, Ok(Some(_))), counts, "{policy}: {found:?}");
        if !counts {
            let error = found.unwrap_err();
            assert!(matches!(&error, SignersError::Missing { .. }), "{policy}: {error}");
            assert!(error.hint().contains("etc/allowed_signers"), "{}", error.hint());
        }
        home.write("etc/allowed_signers", &list);
        let found = load(&home.places).unwrap().unwrap();
        assert!(found.file.ends_with("etc/allowed_signers") && found.owner == Owner::User, "{found:?}");
    }
}

/// The machine's file is root's; what was accepted of files is kept where the user's processes can write.
#[test]
fn a_machines_policy_that_cannot_be_read_asks_for_signatures_whatever_lies_beside_accepted_texts() {
    let home = Home::new();
    let system = home.places.system_policy_file();
    home.write("etc/policy.toml", ASKS);
    let layers = || Layers::of(&home.places, None, &PolicyPlace::own(&home.places));
    let mut running = layers();
    assert_eq!(running.load(Keeps::Copies).signed, Required::Dangerous);
    let name = Digest::of(system.as_os_str().as_encoded_bytes()).to_string();
    let planted = home.places.state_dir().join("accepted").join(format!("{}.toml", &name[..32]));
    fs::create_dir_all(planted.parent().unwrap()).unwrap();
    fs::write(planted, "version = 1\n").unwrap();
    home.write("etc/policy.toml", "nonsense");
    assert_eq!(layers().load(Keeps::Copies).signed, Required::Always);
    assert_eq!(word_needs(&home.places, Danger::Plain), Needs::Signature);
    // Who has read it before knows what it asked for.
    assert_eq!(running.load(Keeps::Copies).signed, Required::Dangerous);
}

#[test]
fn a_list_that_the_user_can_change_does_not_satisfy_roots_policy() {
    let Some(home) = Home::roots() else { return };
    home.write("etc/policy.toml", ASKS);
    home.write("etc/allowed_signers", "");
    // As root, every list is the user's own; it is there and root's.
    assert_eq!(load(&home.places).unwrap().map(|found| found.owner), Some(Owner::User));
    let elsewhere = tempfile::tempdir().unwrap();
    let users = elsewhere.path().join("list");
    fs::write(&users, "").unwrap();
    let file = home.places.system_dir().join("allowed_signers");
    fs::remove_file(&file).unwrap();
    symlink(&users, &file).unwrap();
    let error = load(&home.places).unwrap_err();
    assert!(matches!(error, SignersError::NotRoots { .. }), "{error}");
}

#[test]
fn revoked_keys_count_wherever_they_are() {
    let (mara, tom) = (key(1), key(2));
    let revoked = |home: &Home, key: &Key| {
        let key = PublicKey::of_blob(&key.blob()).unwrap();
        load(&home.places).unwrap().unwrap().signers.is_revoked(&key)
    };
    let list = format!("mara {}\ntom {}\n", mara.line(), tom.line());
    for (allowed, lists) in [("config", ["etc", "config"]), ("etc", ["etc", "config"])] {
        for folder in lists {
            let home = Home::new();
            home.write(&format!("{allowed}/allowed_signers"), &list);
            home.write(&format!("{folder}/revoked_keys"), &mara.line());
            assert!(revoked(&home, &mara) && !revoked(&home, &tom), "{allowed} {folder}");
            home.write(&format!("{folder}/revoked_keys"), "nonsense");
            let error = load(&home.places).unwrap_err().to_string();
            assert!(error.contains(&format!("{folder}/revoked_keys")) && error.contains("line 1"), "{error}");
        }
    }
}

#[test]
fn who_can_change_a_file_is_who_can_change_any_link_or_folder_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    let folders = folder.path().join("bin");
    symlink("/usr/bin/env", &link).unwrap();
    symlink("/usr/bin", &folders).unwrap();
    symlink(folder.path().join("b"), folder.path().join("a")).unwrap();
    symlink(folder.path().join("a"), folder.path().join("b")).unwrap();
    let owner = |path: &Path| signers::open(path).map(|opened| opened.owner);
    assert_eq!(owner(Path::new("/usr/bin/env")).unwrap(), Owner::Root);
    assert_eq!(owner(Path::new("/usr/bin/../bin/env")).unwrap(), Owner::Root);
    // What they lead to is root's, and where they lead is the user's to change.
    for path in [&link, &folders.join("env")] {
        assert_eq!(owner(path).unwrap(), Owner::User, "{path:?}");
    }
    for path in [Path::new("usr/bin/env"), &folder.path().join("a"), &folder.path().join("none"), Path::new("/")] {
        assert!(owner(path).is_err(), "{path:?}");
    }
}

#[test]
fn only_roots_policy_names_the_program_that_signs() {
    let names = |program: &str| format!("version = 1\n[operator]\nssh_keygen = \"{program}\"\n");
    let home = Home::new();
    home.write("etc/policy.toml", &names("/usr/bin/env"));
    let why = keygen(&home.places).unwrap_err();
    assert!(why.contains("a policy that others than root can change"), "{why}");
    // The user's file may not even say it: all of it is left out, and a banner says why.
    home.write("etc/policy.toml", "version = 1\n");
    home.write("config/policy.toml", &names("/usr/bin/env"));
    let place = PolicyPlace::Usual(home.places.policy_file());
    let policy = Layers::of(&home.places, None, &place).load(Keeps::Nothing);
    let banner = policy.banner.unwrap_or_default();
    assert!(!policy.allows_count && banner.contains("ssh_keygen"), "{banner}");
    let Some(home) = Home::roots() else { return };
    home.write("etc/policy.toml", &names("/usr/bin/env"));
    assert_eq!(keygen(&home.places).unwrap(), Path::new("/usr/bin/env"));
    for program in ["/tmp/ssh-keygen", "ssh-keygen", "/usr/bin", "/none/ssh-keygen"] {
        home.write("etc/policy.toml", &names(program));
        assert!(keygen(&home.places).is_err(), "{program}");
    }
}

const ALLOWS: &str = "version = 1\n[[rule]]\nid = \"all\"\ndecision = \"allow\"\ntool = \"*\"\n";

#[test]
fn a_rule_of_the_users_lets_pass_what_must_be_signed_only_once_its_text_is_signed() {
    let home = Home::new();
    let (mara, stranger) = (key(1), key(2));
    home.write("etc/allowed_signers", &format!("mara@example.com {}\n", mara.line()));
    let file = home.places.policy_file();
    let layers = || Layers::of(&home.places, None, &PolicyPlace::Usual(file.clone()));
    let allows = || layers().load(Keeps::Copies).rules.iter().any(|rule| rule.decision == Decision::Allow);
    let digest = |text: &str| Digest::of(text.as_bytes());
    let signed = |text: &str, key: &Key| {
        let change = Change::new(Layers::change(&file, digest(text)), "mara@example.com".into(), NOW).to_json();
        let making = Making { namespace: NAMESPACE, ..Making::default() };
        Evidence { signature: armored(&key.sign(change.as_bytes(), &making)), statement: change }
    };
    // Accepted before the machine asked for signatures.
    home.write("config/policy.toml", ALLOWS);
    assert!(allows());
    home.write("etc/policy.toml", ASKS);
    assert!(!allows());
    let pending = layers().load(Keeps::Copies).pending;
    assert!(pending.iter().all(|one| one.needs == Needs::Signature) && pending.len() == 1, "{pending:?}");
    // What any process of the user can write: the copy that says what was accepted.
    fs::create_dir_all(home.places.accepted_dir()).unwrap();
    let accepted = Accepted::of(&home.places);
    accepted.accept(&file, Some(ALLOWS)).unwrap();
    assert!(!allows());
    for wrong in [None, Some(signed(ALLOWS, &stranger)), Some(signed("version = 1\n", &mara))] {
        assert!(layers().accept(&file, digest(ALLOWS), wrong.as_ref(), NOW).is_err(), "{wrong:?}");
        if let Some(wrong) = &wrong {
            accepted.sign(&file, wrong).unwrap();
        }
        assert!(!allows(), "{wrong:?}");
    }
    let late = layers().accept(&file, digest(ALLOWS), Some(&signed(ALLOWS, &mara)), NOW + 11 * 60_000);
    assert!(late.unwrap_err().to_string().contains("has expired"));
    layers().accept(&file, digest(ALLOWS), Some(&signed(ALLOWS, &mara)), NOW).unwrap();
    assert!(allows());
    // A signature is for its text; what only tightens needs none, and what was signed stays.
    let tighter = format!("{ALLOWS}[[rule]]\nid = \"no\"\ndecision = \"deny\"\ntool = \"rm\"\n");
    home.write("config/policy.toml", &tighter);
    let policy = layers().load(Keeps::Copies);
    assert!(policy.rules.len() == 2 && policy.pending.is_empty(), "{policy:?}");
    home.write("config/policy.toml", &ALLOWS.replace("all", "more"));
    assert!(!allows());
    home.write("config/policy.toml", ALLOWS);
    assert!(allows());
    home.write("etc/revoked_keys", &mara.line());
    assert!(!allows());
    // Another file that allows is no way around: the folder's, or one that is named.
    let named = home.folder.path().join("named.toml");
    fs::write(&named, ALLOWS).unwrap();
    let place = PolicyPlace::Named(named);
    let rules = Layers::of(&home.places, None, &place).load(Keeps::Copies).rules;
    assert!(rules.iter().all(|rule| rule.decision > Decision::Allow), "{rules:?}");
}
