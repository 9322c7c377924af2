//! Of each log of a desk the first and the last text that was signed here, kept on this machine: the owner of the desk cannot take them away.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;

use super::places::Places;
use super::replace::replace;

pub fn file(places: &Places) -> PathBuf {
    places.desk_dir().join("witness.json")
}

/// What is kept of the desk at this place. A file that cannot be read has nothing: it is one copy of several.
pub fn read(places: &Places, desk: &str) -> Vec<String> {
    all(places).remove(desk).unwrap_or_default()
}

/// Keeps this of a desk, in place of what was kept before.
pub fn write(places: &Places, desk: &str, notes: Vec<String>) -> io::Result<()> {
    let mut all = all(places);
    all.insert(desk.to_owned(), notes);
    replace(&file(places), &serde_json::to_string(&all)?)
}

fn all(places: &Places) -> BTreeMap<String, Vec<String>> {
    fs::read_to_string(file(places)).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}
