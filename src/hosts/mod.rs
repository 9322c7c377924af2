//! Where each host keeps its list of servers, which of them it starts without mcp-approve, and how that is changed and
//! changed back. A host that keeps its list elsewhere is not seen.

pub mod change;
mod edit;
mod entry;
pub mod files;
mod masked;
mod parse;
pub mod table;
mod tree;

use std::path::PathBuf;

pub use edit::{Pass, Remote, Wrap, rules_name};
pub use entry::{Program, Start, Wrapping, program};
pub use files::{Found, Search};
pub use masked::masked;
pub use tree::{REMOTE, Refusal, Syntax};

/// A server in a host's list. Names are foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub host: &'static str,
    pub file: PathBuf,
    pub name: String,
    /// The project it is listed for, where the file holds several.
    pub project: Option<String>,
    pub start: Start,
    pub wrapping: Option<Wrapping>,
}

impl Listed {
    /// The list it is in, and for which project.
    pub fn list(&self) -> String {
        let project = self.project.as_ref().map(|project| format!(", for {project}")).unwrap_or_default();
        format!("{}{project}", self.file.display())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    pub host: &'static str,
    pub file: PathBuf,
    pub why: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    pub servers: Vec<Listed>,
    pub unread: Vec<Unread>,
    /// How many lists there are.
    pub files: usize,
}

pub fn lists(files: &[Found]) -> Lists {
    let mut lists = Lists::default();
    for found in files {
        let read = if found.is_bundle { bundle } else { servers };
        match files::text(&found.file).and_then(|text| text.map(|text| read(found, &text)).transpose()) {
            Ok(None) => continue,
            Ok(Some(servers)) => lists.servers.extend(servers),
            Err(Refusal(why)) => lists.unread.push(Unread { host: found.host.name, file: found.file.clone(), why }),
        }
        lists.files += 1;
    }
    lists
}

fn servers(found: &Found, text: &str) -> Result<Vec<Listed>, Refusal> {
    let root = parse::parse(found.syntax, text)?;
    let listed = entry::entries(found.host, &root)?.into_iter().filter(|one| one.on).map(|one| Listed {
        host: found.host.name,
        file: found.file.clone(),
        name: one.name.to_owned(),
        project: one.project.map(str::to_owned),
        start: one.start(),
        wrapping: one.wrapping(),
    });
    Ok(listed.collect())
}

/// The server of a bundle, by the name that its manifest shows.
fn bundle(found: &Found, text: &str) -> Result<Vec<Listed>, Refusal> {
    let root = parse::parse(found.syntax, text)?;
    let name = ["display_name", "name"].iter().find_map(|key| root.get(key)?.text()).unwrap_or("a bundle");
    let (host, file, name) = (found.host.name, found.file.clone(), name.to_owned());
    Ok(vec![Listed { host, file, name, project: None, start: Start::Bundle, wrapping: None }])
}
