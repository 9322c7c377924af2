//! Conditions in words.

use mcp_approve::policy::parse;

#[test]
fn every_form_of_a_condition_has_words_and_none_is_lost() {
    for (text, words) in [
        (r#"{ arg = "", len = 2 }"#, "exactly 2 arguments"),
        (r#"{ arg = "", len = 1 }"#, "exactly 1 argument"),
        (r#"{ arg = "path", eq = "a b" }"#, r#"path is "a b""#),
        (r#"{ arg = "n", eq = 5 }"#, "n is 5"),
        (r#"{ arg = "all", eq = true }"#, "all is true"),
        (r#"{ arg = "to", in = ["ada", "bob"] }"#, "to is ada or bob"),
        (r#"{ arg = "path", under = ["~/a", "~/b"] }"#, "path is under ~/a or ~/b"),
        (r#"{ arg = "path", glob = "*.md" }"#, "path matches *.md"),
        (r#"{ arg = "n", gt = 1, lt = 9 }"#, "n is more than 1 and n is less than 9"),
        (r#"{ arg = "text", len = { gt = 2, lt = 9 } }"#, "text is more than 2 and less than 9 long"),
        (r#"{ arg = "x", absent = true }"#, "x is not given"),
        (r#"{ hazard = "outside-roots" }"#, "the hazard is outside-roots"),
        (r#"{ effect = ["read"] }"#, "every effect is read"),
        (r#"{ rate = { most = 10, per = "1h" } }"#, "among the first 10 calls in 1h"),
    ] {
        let file = format!("version = 1\n[[rule]]\nid = 'r'\ndecision = 'deny'\ntool = 't'\nwhen = [{text}]\n");
        let policy = parse::parse(&file).map_err(|problems| format!("{text}: {}", problems[0])).unwrap();
        assert_eq!(policy.rules[0].when[0].words(), words);
    }
}
