//! What a wrapper may use, by the keys `scope` and `role`: reads the scope file, finds the role.

use std::path::PathBuf;

use super::ConfigError;
use crate::capability::scope::Listed;
use crate::home::policy_file;
use crate::policy::glob::Glob;
use crate::policy::role::Role;
use crate::policy::scope::{Limit, Scope};

/// What lies within both; everything if neither is given.
pub(super) fn of(file: Option<PathBuf>, name: Option<String>, roles: Vec<Role>) -> Result<Scope, ConfigError> {
    let listed = file.map_or(Ok(Scope::default()), listed)?;
    match name {
        Some(name) => Ok(listed.meet(Scope::of(Limit::Role(role(roles, &name)?)))),
        None => Ok(listed),
    }
}

/// The role of this name.
pub(super) fn role(roles: Vec<Role>, name: &str) -> Result<Role, ConfigError> {
    let known = roles.iter().map(|role| role.name.clone()).collect();
    let found = roles.into_iter().find(|role| role.name == name);
    found.ok_or_else(|| ConfigError::Role { name: name.to_owned(), known })
}

/// Reads a scope file. One that cannot be read stops the wrapper: without it more tools could be used.
fn listed(path: PathBuf) -> Result<Scope, ConfigError> {
    let read = match policy_file::text(&path) {
        Ok(text) => Listed::read(&text).map_err(|error| format!("cannot be used: {error}")),
        Err(why) => Err(why.to_string()),
    };
    let read = read.and_then(|listed| {
        let wrong = listed.resources().find(|glob| Glob::new(glob).is_err()).map(str::to_owned);
        wrong.map_or(Ok(listed), |glob| {
            Err(format!("cannot be used: `resources` cannot hold {glob:?}, since it is not a glob"))
        })
    });
    read.map(|listed| Scope::of(Limit::Listed(listed))).map_err(|why| ConfigError::Scope { path, why })
}
