//! The JSON Schema that editors complete the file by: what it takes and refuses is what the reader takes and refuses.

use mcp_approve::behavior::hazards::HazardKind;
use mcp_approve::behavior::taxonomy::{Action, OutputDomain};
use mcp_approve::policy::parse::{BUILT_IN, parse};
use mcp_approve::policy::when::EffectClass;
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../../assets/policy.schema.json");

/// A policy as an editor hands it to the schema: dates are texts.
fn as_json(text: &str) -> Value {
    fn plain(value: Value) -> Value {
        match value {
            Value::Object(fields) => match fields.get("$__toml_private_datetime") {
                Some(date) => date.clone(),
                None => Value::Object(fields.into_iter().map(|(key, value)| (key, plain(value))).collect()),
            },
            Value::Array(items) => Value::Array(items.into_iter().map(plain).collect()),
            other => other,
        }
    }
    plain(toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}")))
}

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&serde_json::from_str(SCHEMA).unwrap()).unwrap()
}

fn assert_fits(text: &str) {
    let found = as_json(text);
    let wrong: Vec<String> = validator().iter_errors(&found).map(|error| error.to_string()).collect();
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
}

#[test]
fn the_default_and_its_examples_fit() {
    assert_fits(BUILT_IN);
    let rules = BUILT_IN.split_once("# [[rule]]").unwrap().1;
    assert_fits(&format!("version = 1\n[[rule]]{}", rules.replace("\n# ", "\n").replace("\n#\n", "\n")));
}

#[test]
fn schema_and_reader_agree() {
    let validator = validator();
    for (line, sound) in [
        ("server = 's'", true),
        ("server = []", false),
        ("tool = ['a', 'mcp__s__t*']", true),
        ("mutability = 'PURE'", true),
        ("mutability = 'pure'", false),
        ("action = ['READ', 'DELETE']", true),
        ("action = 'ERASE'", false),
        ("output_domain = 'MONEY'", true),
        ("identity = 'MUTATES|SEND|MESSAGE'", true),
        ("identity = 'x'", false),
        ("capability = 'content:*'", true),
        ("when = [{ arg = 'a', eq = 1 }, { arg = 'b', in = ['x', 2, true] }]", true),
        ("when = [{ arg = 'a', eq = { k = [1] } }]", true),
        ("when = [{ arg = 'a', glob = ['*.txt'], len = { gt = 1, lt = 9 } }]", true),
        ("when = [{ arg = 'a', under = ['~/x', '/y'] }]", true),
        ("when = [{ arg = 'a', under = 'x' }]", false),
        ("when = [{ arg = 'a' }]", false),
        ("when = [{ arg = 'a', lt = 1.5, gt = -1 }]", true),
        ("when = [{ arg = 'a', present = true }]", true),
        ("when = [{ arg = 'a', absent = false }]", false),
        ("when = [{ arg = '', len = 2 }]", true),
        ("when = [{ hazard = ['sensitive-read'] }]", true),
        ("when = [{ hazard = 'sensitive' }]", false),
        ("when = [{ effect = ['read', 'execute'] }]", true),
        ("when = [{ effect = 'READ' }]", false),
        ("when = [{ sql = 'SELECT a FROM b WHERE c = ?' }]", true),
        ("when = [{ rate = { most = 5, per = '1h' } }]", true),
        ("when = [{ rate = { over = 5, per = '30s' } }]", true),
        ("when = [{ rate = { per = '1h' } }]", false),
        ("when = [{ rate = { most = 5, over = 6, per = '1h' } }]", false),
        ("when = [{ rate = { most = 1001, per = '1h' } }]", false),
        ("when = [{ arg = 'a', eq = 1, hazard = 'sensitive-read' }]", false),
        ("when = []", false),
        ("when = { arg = 'a', eq = 1 }", false),
        ("unless = [{ arg = 'a', eq = 1 }]", false),
        ("expires = 2026-12-31", true),
        ("expires = 2026-12-31T18:00:00Z", true),
        ("note = 'x'", true),
        ("nota = 'x'", false),
        ("match = [{}]", true),
        ("match = []", false),
    ] {
        let text = format!("version = 1\n[[rule]]\nid = 'r'\ndecision = 'allow'\n{line}\n");
        assert_eq!(validator.is_valid(&as_json(&text)), sound, "the schema on {line}");
        assert_eq!(parse(&text).is_ok(), sound, "the reader on {line}: {:?}", parse(&text));
    }
    for (text, sound) in [
        ("", false),
        ("version = 2", false),
        ("version = 1\n[defaults]\nmutates = 'allow'", false),
        ("version = 1\n[defaults]\nlikely = 'ask-once'", true),
        ("version = 1\n[defaults]\nlikely = 'deny'", false),
        ("version = 1\n[defaults]\nnew = 'ask-once'\nfirst_use = 'ask-once'", true),
        ("version = 1\n[defaults]\nnew = 'deny'\nfirst_use = 'allow'", true),
        ("version = 1\n[defaults]\nnew = 'allow'", false),
        ("version = 1\n[defaults]\nfirst_use = 'ask'", false),
        ("version = 1\n[defaults]\npure = 'deny'\nmutates = 'deny'\nhazard = 'deny'", true),
        ("version = 1\n[operator]\nsigned = 'dangerous'", true),
        ("version = 1\n[operator]\nsigned = true", false),
        ("version = 1\n[desk]\nrequired = true", true),
        ("version = 1\n[desk]\nrequired = 'yes'", false),
        ("version = 1\n[operator]\nsigned = 'often'", false),
        ("version = 1\noperator = 'always'", false),
        (
            "version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\napprovals = 2\nsigners = ['a', 'b@c']\nother = true",
            true,
        ),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\napprovals = 0", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\napprovals = 10", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\napprovals = '2'", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nsigners = []", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nsigners = 'a,b'", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nsigners = ['*@example.org']", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nother = 1", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\napprovals = 2", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'allow'\nsigners = ['a']", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nother = false", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'redact'\nresult = { secret = true }", true),
        (
            "version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\ntool = 't'\nresult = { size = 5, host = '*.example.org' }",
            true,
        ),
        (
            "version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nresult = { kind = ['image', 'structured'], glob = ['*a*'], hazard = true }",
            true,
        ),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'redact'", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'allow'\nresult = { secret = true }", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nresult = { secret = true }", true),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nresult = { secret = true }\napprovals = 2", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nresult = {}", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nresult = { secret = false }", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nresult = { kind = 'video' }", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nresult = { size = -1 }", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nresult = { words = 'a' }", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nmethod = 'x/y'\nresult = { size = 1 }", false),
        (
            "version = 1\n[[rule]]\nid = 'a'\ndecision = 'deny'\nwhen = [{ arg = 'a', eq = 1 }]\nresult = { size = 1 }",
            false,
        ),
        ("version = 1\n[[rule]]\nid = 'a b'\ndecision = 'ask'", false),
        ("version = 1\n[[rule]]\nid = 'a'", false),
        ("version = 1\n[[rule]]\nid = 'a'\ndecision = 'ask'\nunless = [{ arg = 'a', eq = 1 }]", true),
    ] {
        assert_eq!(validator.is_valid(&as_json(text)), sound, "the schema on {text}");
        assert_eq!(parse(text).is_ok(), sound, "the reader on {text}");
    }
}

/// A word that is added to the code and not to the schema would be marked as an error by editors.
#[test]
fn the_schema_knows_every_word() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let words = |name: &str| schema["$defs"][name]["enum"].as_array().unwrap().clone();
    let of = |all: Vec<&'static str>| all.into_iter().map(Value::from).collect::<Vec<_>>();
    assert_eq!(words("action"), of(Action::ALL.iter().map(|one| one.word()).collect()));
    assert_eq!(words("output_domain"), of(OutputDomain::ALL.iter().map(|one| one.word()).collect()));
    assert_eq!(words("effect"), of(EffectClass::ALL.iter().map(|one| one.word()).collect()));
    let sorted = |mut all: Vec<Value>| {
        all.sort_by_key(ToString::to_string);
        all
    };
    assert_eq!(sorted(words("hazard")), sorted(of(HazardKind::ALL.iter().map(|one| one.word()).collect())));
    assert_eq!(
        schema["properties"]["version"],
        json!({ "description": "The version of the policy language.", "const": 1 })
    );
}

/// A key that is added to the reader and not to the schema, or the other way round.
#[test]
fn the_schema_knows_every_key() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let keys = |table: &Value| table["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let conditions = schema["$defs"]["condition"]["oneOf"].as_array().unwrap().iter().flat_map(keys);
    let rule = "version = 1\n[[rule]]\nid = 'r'\ndecision = 'deny'\n";
    for (text, in_schema) in [
        ("version = 1\nno-such-key-anywhere = 1".to_owned(), keys(&schema)),
        ("version = 1\n[defaults]\nno-such-key-anywhere = 1".to_owned(), keys(&schema["properties"]["defaults"])),
        ("version = 1\n[operator]\nno-such-key-anywhere = 1".to_owned(), keys(&schema["properties"]["operator"])),
        ("version = 1\n[desk]\nno-such-key-anywhere = 1".to_owned(), keys(&schema["properties"]["desk"])),
        (format!("{rule}no-such-key-anywhere = 1"), keys(&schema["$defs"]["rule"])),
        (format!("{rule}when = [{{ no-such-key-anywhere = 1 }}]"), conditions.collect()),
    ] {
        let problems = parse(&text).unwrap_err();
        let told = problems.iter().find_map(|problem| problem.hint.strip_prefix("known keys: ")).expect(&text);
        let sorted = |mut all: Vec<String>| {
            all.sort();
            all
        };
        assert_eq!(sorted(told.split(", ").map(str::to_owned).collect()), sorted(in_schema), "{text}");
    }
}
