//! The page of a server: what is marked before anybody has looked, what it says of parameters, and what an answer leaves.

use mcp_approve::behavior::agreed::{Agreement, Agreements, What};
use mcp_approve::behavior::conclude::{Behavior, Overrides, Trust, of_tool_with};
use mcp_approve::behavior::curated::Curated;
use mcp_approve::behavior::evidence::Source;
use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::gate::data::pin::PinState;
use mcp_approve::home::name;
use mcp_approve::home::pages::of_list;
use mcp_approve::mcp::tool::Tool;
use mcp_approve::pins::page::{Beforehand, Group, Known, Line, Offer, Page, Seen};
use mcp_approve::policy::rule::FirstUse;
use serde_json::{Value, json};

fn tool(name: &str, description: &str, parameters: &Value) -> Tool {
    let schema = json!({ "type": "object", "properties": parameters });
    Tool::read(json!({ "name": name, "description": description, "inputSchema": schema })).unwrap()
}

/// The page of these definitions, as the list of one package knows them.
fn page(tools: &[Tool], agreed: &Agreements, seen: &Seen) -> Page {
    let list = Curated::of_package("pypi:mcp-server-sqlite");
    let concluded: Vec<(Behavior, _)> = tools
        .iter()
        .map(|tool| {
            let overrides = Overrides { curated: list.find(&tool.digest()), ..Overrides::default() };
            (of_tool_with(tool, Trust::Corroborate, overrides), list.given(&tool.digest()))
        })
        .collect();
    let known: Vec<Known<'_>> = tools
        .iter()
        .zip(&concluded)
        .map(|(tool, (behavior, given))| Known {
            name: &tool.name,
            digest: tool.digest(),
            pin_state: PinState::Trusted,
            behavior,
            definition: Some((tool, given.as_ref())),
        })
        .collect();
    Page::of(("s", "f"), FirstUse::AskOnce, &known, agreed, &["/srv/data".to_owned()], seen)
}

fn line<'p>(page: &'p Page, tool: &str) -> &'p Line {
    page.lines.iter().find(|line| line.tool == tool && line.group != Group::New).unwrap_or_else(|| panic!("{tool}"))
}

fn marked(page: &Page) -> Vec<&str> {
    let marked = page.lines.iter().filter(|line| line.beforehand == Beforehand::Marked);
    marked.map(|line| line.tool.as_str()).collect()
}

#[test]
fn only_what_is_curated_or_proven_by_two_texts_is_marked_beforehand() {
    let none = json!({});
    let mut tools = vec![
        tool("get_weather", "Returns the weather.", &none),
        // Proven, and the learned voter is a part of the proof.
        tool("get_report", "Gets the report of a week.", &none),
        tool("list_stations", "", &none),
        // A second verb, even one that is denied.
        tool("fetch_map", "Returns a map, and never deletes it.", &none),
        tool("show_order", "Returns an order. The order was paid and sent before.", &none),
        tool("delete_map", "Deletes a map.", &none),
    ];
    let manifest: Value = serde_json::from_str(include_str!("../fixtures/manifest_sqlite.json")).unwrap();
    tools.extend(manifest["tools"].as_array().unwrap().iter().map(|one| Tool::read(one.clone()).unwrap()));
    let page = page(&tools, &Agreements::default(), &Seen::new());
    assert_eq!(marked(&page), ["get_weather", "read_query", "list_tables", "describe_table"], "{page:#?}");
    let learned = of_tool_with(&tools[1], Trust::Corroborate, Overrides::default());
    assert_eq!(learned.confidence, Confidence::Proven, "it would run unasked by the defaults");
    assert!(learned.evidence.iter().any(|one| one.source == Source::Learned));
    assert!(matches!(line(&page, "get_report").offer, Offer::Agree(_)), "and it may be marked by hand");
    assert!(matches!(line(&page, "delete_map"), Line { group: Group::Changes, offer: Offer::Nothing, .. }));
    assert!(page.is_new() && page.is_wanted());
}

#[test]
fn nothing_that_was_only_seen_is_marked_whatever_it_is_and_however_often() {
    let tools = [tool("get_weather", "Returns the weather.", &json!({ "mood": { "type": "string" } }))];
    let mood = Agreement {
        tool: "get_weather".into(),
        key: "/mood".into(),
        schema: "0".repeat(64),
        ..Agreement::of_server(What::Value, "\"grim\"")
    };
    let of_another = Agreement { tool: "delete_weather".into(), ..mood.clone() };
    let host = Agreement::of_server(What::Host, "example.com");
    let seen: Seen = [(mood.clone(), 1000), (host.clone(), 1), (of_another.clone(), 5)].into_iter().collect();
    let page = page(&tools, &Agreements::default(), &seen);
    let offers = |one: &Agreement| page.lines.iter().find(|line| line.offer == Offer::Agree(one.clone()));
    assert!(offers(&mood).unwrap().says == "mood = grim · seen in 1,000 calls" && offers(&host).is_some());
    assert!(offers(&of_another).is_none(), "only of tools that read");
    assert_eq!(marked(&page), ["get_weather"], "the tool itself, by its texts");
}

#[test]
fn what_calls_will_ask_about_is_said_before_the_first_one() {
    let parameters = json!({
        "city": { "type": "string" },
        "mood": { "type": "string" },
        "mode": { "enum": ["fast", "full"] },
        "charge": { "type": "boolean", "default": false },
        "depth_factor": { "type": "integer" },
        "interpreter": { "type": "string" },
        "file_path": { "type": "string" },
        "url": { "type": "string" },
        "options": { "type": "object" },
        "tags_extra": { "type": "array", "items": { "type": "string" } },
        "page": { "type": "integer" },
    });
    let tools = [tool("get_weather", "Returns the weather.", &parameters)];
    let first = page(&tools, &Agreements::default(), &Seen::new());
    let new: Vec<&str> =
        first.lines.iter().filter(|line| line.group == Group::New).map(|line| line.says.as_str()).collect();
    assert_eq!(
        new,
        [
            "any word under mood",
            "mode = fast",
            "mode = full",
            "charge = true",
            "any number under depth_factor",
            "any word under tags_extra.*",
            "each folder outside /srv/data and its working folder: file_path (get_weather)",
            "each host: url (get_weather)",
            "each value: interpreter (get_weather), options (get_weather)",
        ]
    );
    // Each that can be agreed to is one that a call asks about: agreed to, it is no news any more.
    let offers = first.lines.iter().filter_map(|line| match &line.offer {
        Offer::Agree(one) => Some(one.clone()),
        Offer::Nothing | Offer::Agreed | Offer::Reads(_) => None,
    });
    let answered = page(&tools, &offers.collect(), &Seen::new());
    assert!(!answered.is_open() && !answered.is_new() && !answered.is_wanted(), "{answered:#?}");
    assert_eq!(line(&answered, "get_weather").offer, Offer::Agreed);
    let other = [tool("get_weather", "Returns the weather of a city.", &parameters)];
    assert!(page(&other, &Agreements::default(), &Seen::new()).is_new(), "another definition is another question");
}

#[test]
fn a_server_of_our_list_has_a_page_before_it_ever_ran() {
    let launch = |words: &[&str]| name::launch("s", &words.iter().map(Into::into).collect::<Vec<_>>());
    let page =
        of_list(&launch(&["npx", "-y", "@modelcontextprotocol/server-filesystem", "/srv"]), FirstUse::Allow).unwrap();
    assert!(marked(&page).contains(&"list_directory") && !marked(&page).contains(&"write_file"), "{page:?}");
    assert_eq!(line(&page, "write_file").group, Group::Changes);
    assert!(of_list(&launch(&["npx", "-y", "nobody-knows-this"]), FirstUse::Allow).is_none());
}
