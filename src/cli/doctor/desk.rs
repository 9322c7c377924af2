//! What `doctor` says of the desk of many machines: whether it answers, and what the role that logs in there may do.

use super::{Check, broken, good, note};
use crate::audit::Record;
use crate::cli::desk::runtime;
use crate::desk::engine::{EngineError, Program, Target};
use crate::desk::init::{Group, RoleFound, role};
use crate::desk::own::{OnDesk, Other};
use crate::gate::data::event::Now;
use crate::gate::state::frozen::Stops;
use crate::home::layers::{Keeps, Layers};
use crate::home::places::{Places, under};
use crate::home::policy_file::PolicyPlace;
use crate::home::{config, standing};
use crate::text::plain::visible;

/// Nothing where `config.toml` names no desk; that it cannot be read has a check of its own.
pub(super) fn check(places: &Places) -> Vec<Check> {
    let Some(place) = config::desk(places).ok().filter(|place| !place.url.is_empty()) else { return Vec::new() };
    let found = Target::read(&place).and_then(|target| {
        let asked = async {
            let engine = target.connect(Program::Command).await?;
            let found = role(&engine).await?;
            let is_machine = found.groups == [Group::Machine];
            let own = if is_machine { Some(OnDesk::read(&engine, target.role(), 0).await?) } else { None };
            Ok((found, own))
        };
        runtime().map_err(|error| EngineError::Unreachable(error.to_string()))?.block_on(asked)
    });
    let (found, own) = match found {
        Err(error) => return vec![broken("desk", visible(&error.to_string()), Some(error.hint().to_owned()))],
        Ok(found) => found,
    };
    std::iter::once(of_role(&found)).chain(own.and_then(|own| own_log(&own, places))).collect()
}

/// Whether the desk has this machine's log as it is here, or `desk run` recorded that it had another.
fn own_log(own: &OnDesk, places: &Places) -> Option<Check> {
    // That this log cannot be read has a check of its own.
    let log = config::audit_db(places).ok()?;
    if let Some(other) = own.other(&log).ok()? {
        return Some(broken("desk's log", other.to_string(), Some(Other::HINT.to_owned())));
    }
    let Record { seq, .. } = Other::kept(&log).ok()??;
    let what = format!(
        "record {seq} here says that the desk had another log: `{}`",
        places.command(&format!("log show {seq}"))
    );
    Some(note("desk's log", what))
}

/// Whether calls of this user are frozen, by what operators signed and by the policies here.
pub(super) fn frozen(places: &Places, now: i64) -> Option<Check> {
    let folder = std::env::current_dir().ok();
    let required = Layers::of(places, folder.as_deref(), &PolicyPlace::own(places)).load(Keeps::Nothing).life;
    let at = Now { mono: 0, wall: now };
    let mut stops = Stops::default();
    if let Some(standing) = standing::Reader::new(places).changed(now) {
        stops.take(standing, at);
    }
    let frozen = stops.frozen_at(required, at)?;
    Some(note("frozen", visible(&under(places.root(), &frozen.says))))
}

fn of_role(RoleFound { name, groups, beyond }: &RoleFound) -> Check {
    let name = visible(name);
    if !beyond.is_empty() {
        let hint = "log in there with a role that `mcp-approve desk init` made; signatures are checked all the same";
        return broken(
            "desk",
            format!("the role {name} can do more than it should: {}", beyond.join("; ")),
            Some(hint.to_owned()),
        );
    }
    let said = groups.iter().map(|group| group.word()).collect::<Vec<_>>();
    let one = |group| groups.contains(&group);
    match &*said {
        [] => {
            let hint =
                "have its owner add the role: `mcp-approve desk init --machine NAME`, or --operator or --auditor";
            broken("desk", format!("the role {name} has no part in it"), Some(hint.to_owned()))
        }
        _ if one(Group::Machine) && one(Group::Operator) => {
            let hint = "use a role for each: what a machine sends and what an operator says are kept apart by the role";
            broken("desk", format!("the role {name} is a machine and an operator"), Some(hint.to_owned()))
        }
        words => good("desk", format!("connected as {name}, which is of the group {}", words.join(" and "))),
    }
}
