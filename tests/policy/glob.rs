//! Which names a glob matches, and what is no glob.

use mcp_approve::policy::glob::Glob;

#[test]
fn globs() {
    for (glob, name, fits) in [
        ("read_file", "read_file", true),
        ("read_file", "Read_file", false),
        ("read_*", "read_", true),
        ("*", "", true),
        ("*", "a/b", true),
        ("?", "é", true),
        ("d?l", "dél", true),
        ("[é-ü]x", "öx", true),
        ("?", "", false),
        ("?", "ab", false),
        ("*_file*", "my_file_file", true),
        ("*ab", "aab", true),
        ("a*b*c", "abcbc", true),
        ("a*b*c", "abcb", false),
        ("*a*a*", "a", false),
        ("[a-c]*", "bed", true),
        ("[!a-c]*", "bed", false),
        ("[!a-c]", "", false),
        ("[-a]", "-", true),
        ("[a-]", "-", true),
        ("\\*", "*", true),
        ("\\*", "x", false),
        ("[\\]]", "]", true),
        ("{a,b}", "a", false),
        ("read", "read\n", false),
    ] {
        assert_eq!(Glob::new(glob).unwrap().matches(name), fits, "{glob} on {name}");
    }
    for bad in ["", "[", "[a", "[]", "[!]", "[z-a]", "x\\", "[a-"] {
        assert!(Glob::new(bad).is_err(), "{bad}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 3000, failure_persistence: None, ..Default::default() })]

    /// Pieces between stars are found the quick way, and one of them written as a class the slow way: both agree.
    #[test]
    fn the_quick_way_agrees_with_the_slow_one(glob in "[ab*é]{1,6}", name in "[abé]{0,8}") {
        let slow = glob.replacen('a', "[a]", 1).replacen('b', "[b]", 1).replacen('é', "[é]", 1);
        let (quick, slow) = (Glob::new(&glob).unwrap(), Glob::new(&slow).unwrap());
        proptest::prop_assert_eq!(quick.matches(&name), slow.matches(&name), "{} on {}", glob, name);
    }
}
