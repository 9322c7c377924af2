//! Definitions of tools, and what their digests are of.

use mcp_approve::mcp::tool::{Annotations, Page, Tool, cut_page};
use mcp_approve::wire::Line;

fn tool(definition: &str) -> Option<Tool> {
    Tool::read(serde_json::from_str(definition).expect("a case is JSON"))
}

#[test]
fn a_definition_is_read_as_far_as_it_can_be() {
    let read = tool(
        r#"{"name":"t","description":"d","inputSchema":{"type":"object"},"outputSchema":true,
            "annotations":{"title":"T","readOnlyHint":true,"destructiveHint":"no","openWorldHint":false}}"#,
    )
    .expect("it has a name");
    assert_eq!((read.name.as_str(), read.title.as_deref()), ("t", Some("T")));
    assert_eq!(read.description.as_deref(), Some("d"));
    assert_eq!(read.output_schema, Some(true.into()));
    let hints = Annotations { read_only: Some(true), open_world: Some(false), ..Annotations::default() };
    assert_eq!(read.annotations, hints, "a hint that is no boolean is not said");

    let bare = tool(r#"{"name":"t","title":"A","annotations":{"title":"B"},"inputSchema":[]}"#).expect("it has a name");
    assert_eq!(bare.title.as_deref(), Some("A"));
    assert_eq!(bare.input_schema.as_bool(), Some(true), "no schema takes anything");
    assert_eq!(bare.output_schema, None);
    for nameless in ["{}", r#"{"name":1}"#, "[]", "null"] {
        assert_eq!(tool(nameless), None, "{nameless}");
    }
}

#[test]
fn a_digest_is_of_the_definition_not_of_its_writing() {
    let digest = |definition| tool(definition).expect("a tool").digest();
    let pinned = digest(r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"\u00e9"},"n":[1.0,2]}"#);
    assert_eq!(pinned, digest(r#"{ "n": [1.0, 2], "annotations":{"title":"é","readOnlyHint":true}, "name":"t" }"#));
    for changed in [
        r#"{"name":"t","annotations":{"readOnlyHint":false,"title":"é"},"n":[1.0,2]}"#,
        r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[1,2]}"#,
        r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[2,1.0]}"#,
        r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[1.02]}"#,
        r#"{"name":"t","annotations":{"readOnlyHint":true,"title":"é"},"n":[1.0,2],"_meta":{}}"#,
    ] {
        assert_ne!(pinned, digest(changed), "{changed}");
    }
}

#[test]
fn what_a_definition_says_is_neither_the_order_of_its_sets_nor_a_date() {
    let sense = |definition| tool(definition).expect("a tool").sense();
    let one = sense(
        r#"{"name":"t","description":"It is 2026-11-22T10:00:07 now.","inputSchema":{"required":["a","b"],"properties":{"a":{"enum":[1,2],"default":"2026-11-22"}}}}"#,
    );
    let same = sense(
        r#"{"name":"t","description":"It is 2026-11-23T23:59:00 now.","inputSchema":{"required":["b","a"],"properties":{"a":{"enum":[2,1],"default":"2026-11-22"}}}}"#,
    );
    assert_eq!(one, same);
    for other in [
        r#"{"name":"t","description":"It is 2026-11-22T10:00:07 later.","inputSchema":{"required":["a","b"],"properties":{"a":{"enum":[1,2],"default":"2026-11-22"}}}}"#,
        r#"{"name":"t","description":"It is 2026-11-22T10:00:07 now.","inputSchema":{"required":["a"],"properties":{"a":{"enum":[1,2],"default":"2026-11-22"}}}}"#,
        r#"{"name":"t","description":"It is 2026-11-22T10:00:07 now.","inputSchema":{"required":["a","b"],"properties":{"a":{"enum":[1,2],"default":"2026-11-23"}}}}"#,
    ] {
        assert_ne!(one, sense(other), "{other}");
    }
    // The order of values, and of what is in a set of lists or objects, may mean something.
    for (one, other) in [
        (r#""examples":["b","a"]"#, r#""examples":["a","b"]"#),
        (r#""prefixItems":[true,false]"#, r#""prefixItems":[false,true]"#),
        (r#""default":{"required":["b","a"]}"#, r#""default":{"required":["a","b"]}"#),
        (r#""enum":[{"b":1},{"a":1}]"#, r#""enum":[{"a":1},{"b":1}]"#),
        (r#""enum":[["b"],["a"]]"#, r#""enum":[["a"],["b"]]"#),
    ] {
        let [one, other] = [one, other].map(|said| tool(&format!(r#"{{"name":"t",{said}}}"#)).expect("a tool"));
        assert_ne!(one.sense(), other.sense(), "{one:?}");
    }
    for (text, expected) in [
        ("2026-11-22, 12026-11-22, 2026-1-2, v1.2.3", "0000-00-00, 12026-11-22, 2026-1-2, v1.2.3"),
        ("2026-11-22 10:00é", "0000-00-00 00:00é"),
        ("on 2026-12-31", "on 0000-00-00"),
        ("2026-12-31T23:59:60.999", "0000-00-00T00:00:00.000"),
        // Digits that are no valid date or time stay: they mean something else.
        ("2026-13-01 2026-00-01 2026-01-32 2026-01-00", "2026-13-01 2026-00-01 2026-01-32 2026-01-00"),
        ("2026-01-01T24:00", "0000-00-00T24:00"),
        ("2026-01-01T00:60", "0000-00-00T00:60"),
        ("2026-01-01T00:00:61", "0000-00-00T00:00:61"),
    ] {
        let described = |text: &str| Tool::read(serde_json::json!({"name": "t", "description": text})).expect("a tool");
        assert_eq!(described(text).sense(), described(expected).digest(), "{text}");
    }
}

#[test]
fn a_page_is_a_successful_list() {
    let page =
        Page::read(br#"{"id":1,"result":{"tools":[{"name":"a"},{},{"name":"b"}],"nextCursor":""}}"#).expect("a page");
    let names: Vec<String> = page.tools.iter().filter_map(|entry| Some(Tool::of_entry(entry)?.name)).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(page.next_cursor.as_deref(), Some(""), "an empty cursor is a cursor");
    for other in ["", "{}", r#"{"result":{}}"#, r#"{"result":{"tools":{}}}"#, r#"{"error":{}}"#] {
        assert!(Page::read(other.as_bytes()).is_none(), "{other}");
    }
}

#[test]
fn what_is_too_long_or_too_deep_is_known_by_its_name_alone() {
    let entry = |text: String| Tool::of_entry(&serde_json::value::RawValue::from_string(text).expect("JSON"));
    let long = |more: usize| {
        format!(r#"{{"name":"t","description":"{}","annotations":{{"readOnlyHint":true}}}}"#, "x".repeat(more))
    };
    let deep = format!(r#"{{"name":"t","inputSchema":{}{}}}"#, r#"{"items":"#.repeat(500) + "{}", "}".repeat(500));
    assert!(entry(long(1_000)).expect("a tool").annotations.read_only.is_some());
    let unread = [entry(long(300_000)), entry(long(300_001)), entry(deep)].map(|tool| tool.expect("a tool"));
    for tool in &unread {
        assert_eq!((tool.name.as_str(), tool.description.as_ref(), tool.annotations.read_only), ("t", None, None));
        assert!(tool.input_schema.is_string(), "no schema");
    }
    assert_ne!(unread[0].digest(), unread[1].digest(), "a change is still a change");
    let spare = (256 << 10) - long(0).len();
    assert!(!entry(long(spare)).expect("a tool").input_schema.is_string());
    assert!(entry(long(spare + 1)).expect("a tool").input_schema.is_string());
    for (length, is_read) in [(1024, true), (1025, false)] {
        assert_eq!(entry(format!(r#"{{"name":"{}"}}"#, "n".repeat(length))).is_some(), is_read, "{length}");
    }
}

fn cut_to(page: &str, keep: &[bool]) -> Option<String> {
    cut_with(page, keep, None)
}

fn cut_with(page: &str, keep: &[bool], own: Option<&str>) -> Option<String> {
    let line = cut_page(&Line::new(page.as_bytes().to_vec()), keep, own)?;
    Some(String::from_utf8(line.into_bytes()).expect("text"))
}

#[test]
fn what_stays_is_as_it_was_received() {
    let page = "{ \"id\":1.0,\"result\" : {\"nextCursor\":\"\\u0041\", \"tools\":[ {\"name\":\"a\"} , {\"n\":2}\t,{\"c\":3} ] ,\"_meta\":{}}}\r\n";
    let with = |tools: &str| Some(page.replace("{\"name\":\"a\"} , {\"n\":2}\t,{\"c\":3}", tools));
    assert_eq!(cut_to(page, &[true; 3]).as_deref(), Some(page));
    assert_eq!(cut_to(page, &[true, false, false]), with("{\"name\":\"a\"}"));
    assert_eq!(cut_to(page, &[false, true, false]), with("{\"n\":2}"));
    assert_eq!(cut_to(page, &[false, true, true]), with("{\"n\":2}\t,{\"c\":3}"));
    assert_eq!(cut_to(page, &[true, false, true]), with("{\"name\":\"a\"}\t,{\"c\":3}"));
    assert_eq!(cut_to(page, &[false; 3]), with(""));
    assert_eq!(cut_to(page, &[false; 2]), None, "it was read with another number of tools");
    assert_eq!(cut_to("{\"result\":{\"tools\":[]}}", &[]).as_deref(), Some("{\"result\":{\"tools\":[]}}"));
}

#[test]
fn a_tool_of_ours_comes_first() {
    let page = |tools: &str| format!("{{ \"result\" : {{\"tools\" :[{tools}],\"x\":[]}}}}\n");
    for (tools, keep, wanted) in [
        ("", &[][..], "9"),
        ("  ", &[], "9  "),
        (" 1 , 2", &[true, true], " 9,1 , 2"),
        (" 1 , 2", &[false, true], " 9,2"),
        (" 1 , 2 ", &[false, false], " 9 "),
    ] {
        assert_eq!(cut_with(&page(tools), keep, Some("9")), Some(page(wanted)), "{tools}");
    }
}

#[test]
fn a_page_that_parsers_read_differently_is_not_cut() {
    for page in [
        "{\"result\":{\"tools\":[1],\"tools\":[2]}}",
        "{\"result\":{\"tools\":[1],\"Tools\":[2]}}",
        "{\"result\":{\"tools\":[1]},\"RESULT\":{\"tools\":[2]}}",
        "{\"result\":{\"tools\":[1]}} {}",
        "{\"result\":{\"tools\":{}}}",
        "{\"result\":[]}",
        "[{\"result\":{\"tools\":[1]}}]",
    ] {
        assert_eq!(cut_to(page, &[true]), None, "{page}");
    }
}
