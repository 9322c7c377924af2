//! Roles of `config.toml` as JSON objects, for files that carry them to other machines, and back as text. Which file: `home::set`.

use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, Table};

use super::role;
use crate::policy::carried::plain;
use crate::policy::edit::EditError;
use crate::policy::reading::Reading;
use crate::policy::role::Role;
use crate::policy::written;

/// A role as such a file has it, or as `config.toml` does.
#[derive(Clone, Debug, PartialEq)]
pub struct CarriedRole {
    pub name: String,
    fields: Map<String, Value>,
}

impl CarriedRole {
    /// As a table of `config.toml`: taken over from `author`, or the operator's own.
    pub fn text(&self, author: Option<&str>) -> String {
        let team = author.map(|author| format!("team = {}\n", written::text(author))).unwrap_or_default();
        let lines = written::lines(&self.fields).unwrap_or_default();
        format!("[roles.{}]\n{lines}{team}", written::key(&self.name))
    }
}

/// Reads the roles of a file. They inherit from each other and from built-in roles only, and add to none of these.
///
/// # Errors
/// Everything that is wrong with them.
pub fn carried_roles(roles: &Map<String, Value>) -> Result<Vec<CarriedRole>, Vec<String>> {
    let (mut read, mut problems) = (Vec::new(), Vec::new());
    for (name, fields) in roles {
        let mut problem = |why: &str| problems.push(format!("role {name}: {why}"));
        let Value::Object(fields) = fields else {
            problem("it is not an object");
            continue;
        };
        if is_built_in(name) {
            problem("it is built in, and each machine says itself what it adds to it");
        } else if fields.contains_key("team") {
            problem("`team` is for the machine to say that takes the role over");
        } else if written::lines(fields).is_none() {
            problem("it has a null, or a number");
        } else {
            read.push(CarriedRole { name: name.clone(), fields: fields.clone() });
        }
    }
    let text: String = read.iter().map(|role| role.text(None)).collect();
    let (mut reading, document) = Reading::new(&text);
    role::read_all(&mut reading, document.get_ref(), &[]);
    problems.extend(reading.finish().into_iter().map(|one| format!("{}; {}", one.what, one.hint)));
    if problems.is_empty() { Ok(read) } else { Err(problems) }
}

/// Every role that `config.toml` has, and whose set it was taken over from.
pub fn written_roles(text: &str) -> Vec<(CarriedRole, Option<String>)> {
    let table: Value = toml::from_str(text).map(plain).unwrap_or_default();
    let roles = table["roles"].as_object().cloned().unwrap_or_default();
    let role = |(name, fields): (String, Value)| {
        let Value::Object(mut fields) = fields else { return None };
        let team = fields.shift_remove("team").and_then(|team| Some(team.as_str()?.to_owned()));
        Some((CarriedRole { name, fields }, team))
    };
    roles.into_iter().filter_map(role).collect()
}

/// The objects of the operator's own roles, and the names of those that mean nothing without this machine: what is added to a built-in
/// role, and what inherits from a role that is not carried.
pub fn role_objects(text: &str) -> (Map<String, Value>, Vec<String>) {
    let own = written_roles(text).into_iter().filter(|(_, team)| team.is_none()).map(|(role, _)| role);
    let (built_in, mut own): (Vec<_>, Vec<_>) = own.partition(|role| is_built_in(&role.name));
    let mut left: Vec<String> = built_in.into_iter().map(|role| role.name).collect();
    let parents = |role: &CarriedRole| -> Vec<String> {
        match role.fields.get("inherits") {
            Some(Value::String(one)) => vec![one.clone()],
            Some(Value::Array(many)) => many.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        }
    };
    while let Some(at) = own.iter().position(|role| {
        let is_there = |name: &String| is_built_in(name) || own.iter().any(|other| other.name == *name);
        !parents(role).iter().all(is_there)
    }) {
        left.push(own.remove(at).name);
    }
    (own.into_iter().map(|CarriedRole { name, fields }| (name, fields.into())).collect(), left)
}

/// `config.toml` with another text of this role, or without it.
///
/// # Errors
/// It is no TOML, or its roles are not written as `[roles.NAME]`.
pub fn with_role(text: &str, name: &str, role: Option<&str>) -> Result<String, EditError> {
    let read = |text: &str| {
        let read = text.parse::<DocumentMut>();
        read.map_err(|error| EditError::NotToml(error.message().replace('\n', ", ")))
    };
    let mut document = read(text)?;
    let known = match document.get_mut("roles") {
        Some(roles) => Some(roles.as_table_mut().ok_or(EditError::NotTables)?),
        None => None,
    };
    let known = known.filter(|known| known.contains_key(name));
    match (role, known) {
        (Some(role), Some(known)) => {
            let mut new = read(role)?;
            let new = new.get_mut("roles").and_then(|roles| roles.get_mut(name)).and_then(Item::as_table_mut);
            let (Some(new), Some(old)) = (new, known.get_mut(name).and_then(Item::as_table_mut)) else {
                return Err(EditError::NotTables);
            };
            let (place, decor) = (old.position(), old.decor().clone());
            *old = std::mem::replace(new, Table::new());
            old.set_position(place);
            *old.decor_mut() = decor;
        }
        (Some(role), None) => return Ok(format!("{}\n\n{role}", text.trim_end()).trim_start().to_owned()),
        (None, Some(known)) => _ = known.remove(name),
        (None, None) => {}
    }
    Ok(document.to_string())
}

fn is_built_in(name: &str) -> bool {
    Role::given().iter().any(|role| role.name == name)
}
