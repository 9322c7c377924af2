//! hosts: the files themselves. Modes, links, other writers, and what is left behind: nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use mcp_approve::hosts::change::Changed;
use mcp_approve::hosts::files::{Write, edit, remembered};
use mcp_approve::hosts::{Found, Pass, Refusal, Search};
use tempfile::TempDir;

use super::how;

const LIST: &str = "{ \"mcpServers\": { \"s\": { \"command\": \"npx\", \"args\": [\"s\"] } } }\n";

struct Bed {
    home: TempDir,
}

impl Bed {
    fn new() -> Self {
        let bed = Self { home: tempfile::tempdir().unwrap() };
        fs::create_dir(bed.path(".cursor")).unwrap();
        fs::write(bed.file(), LIST).unwrap();
        bed
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path(".cursor/mcp.json")
    }

    fn found(&self) -> Found {
        let search = Search { home: self.home.path().into(), ..Search::default() };
        search.files().into_iter().next().unwrap()
    }

    fn wrap(&self) -> Result<Changed, Refusal> {
        let work = |file: mcp_approve::hosts::change::File<'_>| file.wrap(&|_, _| true, &how(Pass::Unchanged));
        edit(&self.found(), &self.path("records"), Write::Now, &work).map(|edited| edited.changed)
    }

    fn unwrap(&self) -> Result<Changed, Refusal> {
        let work = |file: mcp_approve::hosts::change::File<'_>| file.unwrap(&|_, _| true);
        edit(&self.found(), &self.path("records"), Write::Now, &work).map(|edited| edited.changed)
    }

    fn text(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.path(folder))
            .unwrap()
            .map(|one| one.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_file_keeps_its_mode_and_nothing_is_left_behind() {
    let bed = Bed::new();
    fs::set_permissions(bed.file(), fs::Permissions::from_mode(0o640)).unwrap();
    bed.wrap().unwrap();
    assert!(bed.text().contains("\"/opt/bin/mcp-approve\""));
    assert_eq!((mode(&bed.file()), mode(&bed.path("records"))), (0o640, 0o700));
    let known = remembered(&bed.path("records"));
    assert_eq!((known[0].host.word, &known[0].file), ("cursor", &fs::canonicalize(bed.file()).unwrap()));
    let record = &bed.names("records")[0];
    assert_eq!(mode(&bed.path("records").join(record)), 0o600);
    bed.unwrap().unwrap();
    assert_eq!((bed.text().as_str(), mode(&bed.file())), (LIST, 0o640));
    assert_eq!((bed.names("."), bed.names(".cursor")), (vec![".cursor".to_owned()], vec!["mcp.json".to_owned()]));
}

#[test]
fn a_link_is_followed_and_stays() {
    let bed = Bed::new();
    fs::create_dir(bed.path("dotfiles")).unwrap();
    fs::rename(bed.file(), bed.path("dotfiles/mcp.json")).unwrap();
    symlink("../dotfiles/mcp.json", bed.file()).unwrap();
    bed.wrap().unwrap();
    assert!(bed.file().is_symlink() && bed.text().contains("mcp-approve"));
    bed.unwrap().unwrap();
    assert!(bed.file().is_symlink());
    assert_eq!((bed.text().as_str(), bed.names("dotfiles")), (LIST, vec!["mcp.json".to_owned()]));
}

#[test]
fn a_file_that_is_not_ours_to_write_is_left_with_the_reason() {
    let bed = Bed::new();
    fs::set_permissions(bed.file(), fs::Permissions::from_mode(0o444)).unwrap();
    assert!(bed.wrap().unwrap_err().0.contains("read-only: make it writable"));
    fs::set_permissions(bed.file(), fs::Permissions::from_mode(0o644)).unwrap();
    fs::hard_link(bed.file(), bed.path("second")).unwrap();
    assert!(bed.wrap().unwrap_err().0.contains("2 names (hard links)"));
    fs::remove_file(bed.path("second")).unwrap();
    fs::write(bed.file(), b"{ \"mcpServers\": \xff }").unwrap();
    assert!(bed.wrap().unwrap_err().0.contains("valid UTF-8"));
    assert!(!bed.path("records").exists());
}

#[test]
fn what_another_program_writes_meanwhile_is_not_overwritten() {
    let bed = Bed::new();
    let runs = std::cell::Cell::new(0);
    let work = |file: mcp_approve::hosts::change::File<'_>| {
        if runs.replace(runs.get() + 1) == 0 {
            fs::write(bed.file(), LIST.replace("npx", "uvx")).unwrap();
        }
        file.wrap(&|_, _| true, &how(Pass::Unchanged))
    };
    edit(&bed.found(), &bed.path("records"), Write::Now, &work).unwrap();
    assert!(runs.get() == 2 && bed.text().contains("\"--\", \"uvx\""), "{}", bed.text());
    bed.unwrap().unwrap();
    assert_eq!(bed.text(), LIST.replace("npx", "uvx"));
    let always = |file: mcp_approve::hosts::change::File<'_>| {
        runs.set(runs.get() + 1);
        fs::write(bed.file(), LIST.replace("npx", &format!("x{}", runs.get()))).unwrap();
        file.wrap(&|_, _| true, &how(Pass::Unchanged))
    };
    let why = edit(&bed.found(), &bed.path("records"), Write::Now, &always).unwrap_err();
    assert!(why.0.contains("another program keeps changing it"));
    assert!(!bed.text().contains("mcp-approve") && bed.names(".cursor") == ["mcp.json"]);
}

#[test]
fn a_record_that_cannot_be_used_is_told_and_not_lost() {
    let bed = Bed::new();
    bed.wrap().unwrap();
    let record = bed.path("records").join(&bed.names("records")[0]);
    fs::write(&record, "{").unwrap();
    assert!(bed.unwrap().unwrap_err().0.contains("what is remembered of it cannot be used"));
    assert!(record.exists() && bed.text().contains("mcp-approve"));
}

#[test]
fn a_projects_files_are_those_of_its_folders_up_to_the_repositorys() {
    let bed = Bed::new();
    let inner = bed.path("work/repo/a/b");
    fs::create_dir_all(&inner).unwrap();
    for folder in ["work", "work/repo", "work/repo/a/b"] {
        fs::write(bed.path(folder).join(".mcp.json"), LIST).unwrap();
    }
    let search = Search { home: bed.path("nowhere"), folder: Some(inner.clone()), ..Search::default() };
    let found = || search.files().into_iter().map(|found| found.file).collect::<Vec<_>>();
    assert_eq!(found(), [inner.join(".mcp.json")], "no repository");
    // A worktree has a file there.
    fs::write(bed.path("work/repo/.git"), "gitdir: elsewhere").unwrap();
    assert_eq!(found(), [inner.join(".mcp.json"), bed.path("work/repo/.mcp.json")]);
    fs::create_dir(inner.join(".git")).unwrap();
    assert_eq!(found(), [inner.join(".mcp.json")]);
}
