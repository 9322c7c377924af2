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
