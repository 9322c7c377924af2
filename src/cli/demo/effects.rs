//! What changed in the workspace between two looks: files and table rows, said in one short phrase each.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::database::Shop;
use super::error;
use super::tools::SHOP_FILE;
use crate::cli::error::Error;

/// The workspace at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    files: BTreeMap<String, Vec<u8>>,
    tables: BTreeMap<&'static str, Vec<String>>,
}

impl State {
    /// Reads the whole workspace.
    pub(super) fn of(work: &Path) -> Result<Self, Error> {
        let mut files = BTreeMap::new();
        collect(work, "", &mut files).map_err(|cause| error::io("reading", work, cause))?;
        let tables = Shop::at(work.join(SHOP_FILE)).contents()?.into_iter().collect();
        Ok(Self { files, tables })
    }

    /// What is different `after`: `report.md appears`, `notes.md changes`, `drafts/a.md is gone`,
    /// `sessions: 5 rows -> 2`.
    pub(super) fn changes(&self, after: &Self) -> Vec<String> {
        let mut said = Vec::new();
        for (name, before) in &self.files {
            match after.files.get(name) {
                None => said.push(format!("{name} is gone")),
                Some(now) if now != before => said.push(format!("{name} changes")),
                Some(_) => {}
            }
        }
        let new = after.files.keys().filter(|name| !self.files.contains_key(*name));
        said.extend(new.map(|name| format!("{name} appears")));
        for (table, before) in &self.tables {
            let now = after.tables.get(table).map_or(&[][..], Vec::as_slice);
            if before.len() != now.len() {
                said.push(format!("{table}: {} rows -> {}", before.len(), now.len()));
            } else if before != now {
                said.push(format!("{table}: rows change"));
            }
        }
        said
    }
}

/// SQLite's files are read through its tables instead.
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else if !name.starts_with(SHOP_FILE) {
            match fs::read(entry.path()) {
                Ok(content) => drop(files.insert(name, content)),
                // Moved away since the folder was listed: gone.
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(cause),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::stage::fill;
    use super::*;

    #[test]
    fn every_kind_of_change_is_seen_and_nothing_else() {
        let work = tempfile::tempdir().unwrap();
        fill(work.path()).unwrap();
        let before = State::of(work.path()).unwrap();
        assert!(before.changes(&State::of(work.path()).unwrap()).is_empty());

        fs::write(work.path().join("letter.md"), "l").unwrap();
        fs::write(work.path().join("notes.md"), "n").unwrap();
        fs::remove_file(work.path().join("drafts/todo.md")).unwrap();
        let shop = Shop::at(work.path().join(SHOP_FILE));
        shop.remove_sessions(30).unwrap();
        shop.change("UPDATE orders SET status = 'paid' WHERE id = 1003").unwrap();
        assert_eq!(
            before.changes(&State::of(work.path()).unwrap()),
            [
                "drafts/todo.md is gone", "notes.md changes", "letter.md appears", "orders: rows change",
                "sessions: 5 rows -> 2",
            ]
        );
    }
}
