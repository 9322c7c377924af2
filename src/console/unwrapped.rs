//! The servers that hosts start without mcp-approve, for the Servers screen.

use super::found::Unwrapped;
use crate::home::user;
use crate::hosts::{self, Listed, Start};

/// Those of this user and this folder.
pub(super) fn read() -> Vec<Unwrapped> {
    let Ok(user) = user::current() else { return Vec::new() };
    let lists = hosts::lists(&hosts::Search::here(user.home).files());
    let bare = lists.servers.into_iter().filter(|server| matches!(server.start, Start::Unwrapped | Start::Elsewhere));
    let list = |server: &Listed| match &server.project {
        Some(project) => format!("{}, for {project}", server.file.display()),
        None => server.file.display().to_string(),
    };
    bare.map(|server| Unwrapped { list: list(&server), host: server.host.to_owned(), server: server.name }).collect()
}
