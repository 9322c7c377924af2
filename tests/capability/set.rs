//! The laws of the lattice of capability sets, and what a difference says.

use std::collections::BTreeSet;

use mcp_approve::capability::set::{Capability, Caps, Difference};
use proptest::prelude::*;
use serde_json::json;

use super::tool;

fn capability() -> impl Strategy<Value = Capability> {
    let one = |words: &'static [&'static str]| proptest::sample::select(words).prop_map(str::to_owned);
    (one(&["read", "write", "list"]), one(&["any", "string"]), one(&["any", "integer"]))
        .prop_map(|(name, arguments, result)| Capability { name, arguments, result })
}

fn none() -> Caps {
    Caps::Of(BTreeSet::new())
}

/// `A ⊑ B`: whether every capability of the one is one of the other.
fn is_within(one: &Caps, other: &Caps) -> bool {
    match (one, other) {
        (_, Caps::All) => true,
        (Caps::All, Caps::Of(_)) => false,
        (Caps::Of(one), Caps::Of(other)) => one.is_subset(other),
    }
}

fn caps() -> impl Strategy<Value = Caps> {
    prop_oneof![
        1 => Just(Caps::All),
        1 => Just(none()),
        8 => proptest::collection::btree_set(capability(), 0..8).prop_map(Caps::Of),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn capability_sets_are_a_bounded_distributive_lattice(a in caps(), b in caps(), c in caps()) {
        let meet = |one: &Caps, other: &Caps| one.clone().meet(other.clone());
        let join = |one: &Caps, other: &Caps| one.clone().join(other.clone());
        prop_assert_eq!(meet(&a, &b), meet(&b, &a));
        prop_assert_eq!(join(&a, &b), join(&b, &a));
        prop_assert_eq!(meet(&meet(&a, &b), &c), meet(&a, &meet(&b, &c)));
        prop_assert_eq!(join(&join(&a, &b), &c), join(&a, &join(&b, &c)));
        prop_assert_eq!(&meet(&a, &join(&a, &b)), &a);
        prop_assert_eq!(&join(&a, &meet(&a, &b)), &a);
        prop_assert_eq!(meet(&a, &join(&b, &c)), join(&meet(&a, &b), &meet(&a, &c)));
        prop_assert_eq!(&meet(&a, &Caps::All), &a);
        prop_assert_eq!(&join(&a, &none()), &a);
        prop_assert_eq!(meet(&a, &none()), none());
        prop_assert_eq!(join(&a, &Caps::All), Caps::All);
        // The order and the operations say the same.
        prop_assert_eq!(is_within(&a, &b), meet(&a, &b) == a);
        prop_assert_eq!(is_within(&a, &b), join(&a, &b) == b);
    }

    #[test]
    fn delegation_never_grows(chain in proptest::collection::vec(caps(), 1..8)) {
        let mut scope = Caps::All;
        for caps in chain {
            let handed = caps.clone().meet(scope.clone());
            prop_assert!(is_within(&handed, &scope) && is_within(&handed, &caps));
            scope = handed;
        }
    }
}

#[test]
fn a_set_holds_types_not_names() {
    let read = |schema| tool(json!({ "name": "read", "inputSchema": schema }));
    let was = read(json!({ "properties": { "path": { "type": "string" } }, "required": ["path"] }));
    let same = read(
        json!({ "type": "object", "required": ["path"], "properties": { "path": { "type": "string", "minLength": 1 } } }),
    );
    let wider = read(
        json!({ "properties": { "path": { "type": "string" }, "url": { "type": "string" } }, "required": ["path"] }),
    );
    let (was, same, wider) = (Caps::of_tools([&was]), Caps::of_tools([&same]), Caps::of_tools([&wider]));
    assert_eq!(was, same);
    assert_eq!(was.clone().meet(wider.clone()), none(), "a wider capability is another");
    let difference = Difference::between(&was, &wider);
    assert_eq!((difference.added.len(), difference.removed.len(), difference.changed.len()), (0, 0, 1));
    assert!(Difference::between(&was, &same).is_none());
    let none = Caps::Of(BTreeSet::new());
    assert_eq!(Difference::between(&none, &was).added.len(), 1);
    assert_eq!(Difference::between(&was, &none).removed.len(), 1);
}
