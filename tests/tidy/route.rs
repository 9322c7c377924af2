//! The reading order in `src/lib.rs` is true: its files exist, they are few, and a call's own come as it lives.

use std::collections::BTreeSet;

use super::{root, sources};

/// How many files a newcomer walks for one call that is asked.
const MOST: usize = 30;

#[test]
fn the_route_through_the_code_is_true() {
    let map = std::fs::read_to_string(root().join("src/lib.rs")).expect("src/lib.rs");
    let route = map.split("//! # Twenty minutes").nth(1).and_then(|rest| rest.split("//! 1. ").nth(1));
    let route = links(route.expect("a route").split("\npub mod").next().unwrap_or_default());
    let files: BTreeSet<String> = sources().into_iter().map(|(name, _)| name).collect();
    for stop in &route {
        let path = stop.replace("::", "/");
        let is_file = files.contains(&format!("{path}.rs")) || files.contains(&format!("{path}/mod.rs"));
        assert!(is_file, "the route in src/lib.rs names {stop}, which is no file");
    }
    let distinct: BTreeSet<&String> = route.iter().collect();
    assert_eq!(distinct.len(), route.len(), "the route names a file twice");
    assert!(route.len() > 15 && route.len() <= MOST, "the route has {} files; at most {MOST}", route.len());
    let call = std::fs::read_to_string(root().join("src/gate/call/mod.rs")).expect("the call's files");
    let order: Vec<String> = call
        .lines()
        .take_while(|line| line.starts_with("//!"))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(|stage| format!("gate::call::{stage}"))
        .collect();
    assert!(order.len() >= 8, "gate/call/mod.rs no longer says in what order a call lives");
    let walked: Vec<&String> = route.iter().filter(|stop| order.contains(stop)).collect();
    assert_eq!(walked, order.iter().collect::<Vec<_>>(), "the route leaves the order that a call lives in");
    // What the loop around the steps hands a call to, in its own order.
    let code = std::fs::read_to_string(root().join("src/gate/call/drive.rs")).expect("the loop");
    let (_, code) = code.split_once("fn drive(").expect("a loop");
    let (code, _) = code.split_once("\n    }\n").expect("the end of the loop");
    let steps: Vec<&String> = order
        .iter()
        .filter(|stop| code.contains(&format!("{}::", stop.rsplit("::").next().unwrap_or_default())))
        .collect();
    let first = |stop: &&String| code.find(&format!(" {}::", stop.rsplit("::").next().unwrap_or_default()));
    let places: Vec<_> = steps.iter().filter_map(first).collect();
    assert!(steps.len() >= 6 && places.is_sorted(), "the loop takes the steps in another order: {steps:?} {places:?}");
}

/// The modules that a text links to: `[`a::b`]`.
fn links(text: &str) -> Vec<String> {
    text.split("[`").skip(1).filter_map(|rest| rest.split_once("`]")).map(|(path, _)| path.to_owned()).collect()
}
