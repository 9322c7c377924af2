//! Five JSON parsers read each accepted call; they must agree on its tool and its arguments.
//!
//! serde_json, simd-json and jzon in this process; Node's and Python's where they are installed. Each reading becomes one
//! canonical text. Numbers beyond ±2^53 are left out: they are shown as text and marked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use jzon::JsonValue;
use mcp_approve::wire::Line;
use mcp_approve::wire::message::{self, Sorted};
use simd_json::prelude::*;

use crate::bed::{Chance, Measured, Run, grouped};
use crate::noise;

/// Tokens that parsers have disagreed about, as values of arguments.
const VALUES: &[&str] = &[
    "0", "-0", "-0.0", "1e0", "1E+2", "1e-7", "0.1", "123456789012", "1.7976931348623157e308", "5e-324", "1e-400",
    "3.141592653589793238462643383279", "\"\\ud83d\\ude00\"", "\"\\ud800\"", "\"\\udc00x\"", "\"\\u0000\"", "\"\\/\"",
    "\"\\u007f\"", "\"\u{7f}\u{80}\"", "\"\u{feff}\"", "\"\u{2028}\"", "\"\\b\\f\\n\\r\\t\"", "\"\\u00E9e\\u0301\"",
    "[]", "{}", "[[[]]]", "{\"\":1}", "{\"__proto__\":{\"x\":1}}", "{\"constructor\":1}", "{\"a\":1,\"A\":2}",
    "{\"\\u0061\":1}", "{\"1\":1,\"01\":2}", "true", "null", "\"\"", "[1,[2,{\"k\":[null,false]}]]",
    "1.0000000000000001", "\"\u{1f600}\"", "\"\\uD83D\\uDE00\"", "\"\\\\\"", "\"\\\"\"", "{\"toString\":null}",
    "9007199254740992", "-9007199254740991",
];

/// R7.
pub fn disagree(run: &Run) -> Measured {
    let mut chance = run.chance(7);
    let wanted = run.of(20_000);
    let mut accepted: Vec<Vec<u8>> = Vec::new();
    while (accepted.len() as u64) < wanted {
        let bytes = if chance.one_in(2) { noise::message(&mut chance) } else { call(&mut chance) };
        if matches!(message::sort(Line::new(bytes.clone())), Sorted::Call(_)) {
            accepted.push(bytes);
        }
    }
    let mut readings: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
    readings.insert("serde_json", accepted.iter().map(|bytes| by_serde(bytes)).collect());
    readings.insert("simd-json", accepted.iter().map(|bytes| by_simd(bytes)).collect());
    readings.insert("jzon", accepted.iter().map(|bytes| by_jzon(bytes)).collect());
    let mut absent = Vec::new();
    for (name, program, arguments) in [("node", "node", ["-e", NODE]), ("python", "python3", ["-c", PYTHON])] {
        match elsewhere(program, &arguments, &accepted) {
            Some(read) => drop(readings.insert(name, read)),
            None => absent.push(name),
        }
    }
    let (mut differ, mut refused) = (Vec::new(), BTreeMap::<&str, u64>::new());
    for (at, bytes) in accepted.iter().enumerate() {
        let mut texts: Vec<&String> = Vec::new();
        for (name, read) in &readings {
            match &read[at] {
                Some(text) => texts.push(text),
                None => *refused.entry(name).or_default() += 1,
            }
        }
        if texts.iter().any(|text| text.contains('#')) {
            continue;
        }
        if texts.windows(2).any(|pair| pair[0] != pair[1]) {
            differ.push((String::from_utf8_lossy(bytes).into_owned(), texts));
        }
    }
    let first = differ.first().map_or_else(String::new, |one| format!("; such as {one:?}"));
    let mut text = format!("{} of {} by {} parsers", differ.len(), grouped(wanted), readings.len());
    for (name, count) in &refused {
        text += &format!("; {name} refuses {count}");
    }
    if !absent.is_empty() {
        text += &format!("; NOT ASKED, because absent: {}", absent.join(", "));
    }
    Measured::held(differ.is_empty(), text + &first)
}

/// A call with odd, but mostly sound, arguments.
fn call(chance: &mut Chance) -> Vec<u8> {
    let mut arguments = String::new();
    for n in 0..chance.below(5) {
        let space = chance.of(&["", " ", "\t", "  "]);
        let key = chance.of(&["k", "text", "\\u006b", "\u{e9}", "K", "name", "arguments", "method"]);
        arguments += &format!("{space}\"{key}{n}\"{space}:{space}{}{space},", chance.of(VALUES));
    }
    arguments.pop();
    let name = chance.of(&["read", "wri\\u0074e", "re\u{e1}d", "a/b", "\\u0072ead", "read "]);
    let method = chance.of(&["tools/call", "tools\\/call", "\\u0074ools/call"]);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\",\"params\":{{\"name\":\"{name}\",\"arguments\":{{{arguments}}}}}}}"
    )
    .into_bytes()
}

fn string(text: &str, out: &mut String) {
    out.push('s');
    for unit in text.encode_utf16() {
        out.push_str(&format!("{unit:04x}"));
    }
    out.push('.');
}

/// Twelve digits: what is left is the same number in every language.
fn number(number: f64, out: &mut String) {
    if number.abs() > 9_007_199_254_740_992.0 || !number.is_finite() {
        return out.push('#');
    }
    let number = if number == 0.0 { 0.0 } else { number };
    out.push_str(&format!("d{number:.11e}."));
}

fn object(mut members: Vec<(String, String)>, out: &mut String) {
    members.sort();
    out.push('{');
    for (key, value) in members {
        out.push_str(&key);
        out.push_str(&value);
    }
    out.push('}');
}

fn keyed(key: &str, value: impl FnOnce(&mut String)) -> (String, String) {
    let (mut text, mut shown) = (String::new(), String::new());
    string(key, &mut text);
    value(&mut shown);
    (text, shown)
}

fn by_serde(bytes: &[u8]) -> Option<String> {
    fn canonical(value: &serde_json::Value, out: &mut String) {
        match value {
            serde_json::Value::Null => out.push('n'),
            serde_json::Value::Bool(yes) => out.push(if *yes { 't' } else { 'f' }),
            serde_json::Value::Number(one) => number(one.as_str().parse().unwrap_or(f64::NAN), out),
            serde_json::Value::String(text) => string(text, out),
            serde_json::Value::Array(list) => {
                out.push('[');
                list.iter().for_each(|one| canonical(one, out));
                out.push(']');
            }
            serde_json::Value::Object(members) => {
                object(members.iter().map(|(key, value)| keyed(key, |out| canonical(value, out))).collect(), out);
            }
        }
    }
    let message: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let mut out = String::new();
    for part in ["name", "arguments"] {
        canonical(message["params"].get(part).unwrap_or(&serde_json::Value::Null), &mut out);
    }
    Some(out)
}

fn by_simd(bytes: &[u8]) -> Option<String> {
    fn canonical(value: &simd_json::OwnedValue, out: &mut String) {
        if value.is_null() {
            out.push('n');
        } else if let Some(yes) = value.as_bool() {
            out.push(if yes { 't' } else { 'f' });
        } else if let Some(one) = value.cast_f64() {
            number(one, out);
        } else if let Some(text) = value.as_str() {
            string(text, out);
        } else if let Some(list) = value.as_array() {
            out.push('[');
            list.iter().for_each(|one| canonical(one, out));
            out.push(']');
        } else if let Some(members) = value.as_object() {
            object(members.iter().map(|(key, value)| keyed(key, |out| canonical(value, out))).collect(), out);
        }
    }
    let mut bytes = bytes.to_vec();
    let message = simd_json::to_owned_value(&mut bytes).ok()?;
    let params = message.get("params")?;
    let mut out = String::new();
    for part in ["name", "arguments"] {
        match params.get(part) {
            Some(value) => canonical(value, &mut out),
            None => out.push('n'),
        }
    }
    Some(out)
}

fn by_jzon(bytes: &[u8]) -> Option<String> {
    fn canonical(value: &JsonValue, out: &mut String) {
        match value {
            JsonValue::Null => out.push('n'),
            JsonValue::Boolean(yes) => out.push(if *yes { 't' } else { 'f' }),
            JsonValue::Number(one) => {
                // Its own conversion to a float is rounded twice; its digits are exact.
                let (positive, mantissa, exponent) = one.as_parts();
                let sign = if positive { "" } else { "-" };
                number(format!("{sign}{mantissa}e{exponent}").parse().unwrap(), out);
            }
            JsonValue::Short(text) => string(text.as_str(), out),
            JsonValue::String(text) => string(text, out),
            JsonValue::Array(list) => {
                out.push('[');
                list.iter().for_each(|one| canonical(one, out));
                out.push(']');
            }
            JsonValue::Object(members) => {
                object(members.iter().map(|(key, value)| keyed(key, |out| canonical(value, out))).collect(), out);
            }
        }
    }
    let message = jzon::parse(std::str::from_utf8(bytes).ok()?).ok()?;
    let mut out = String::new();
    for part in ["name", "arguments"] {
        canonical(&message["params"][part], &mut out);
    }
    Some(out)
}

/// Reads hexadecimal lines, prints the canonical text of each, or `!`.
const NODE: &str = r#"
const s = t => 's' + [...Array(t.length).keys()].map(i => t.charCodeAt(i).toString(16).padStart(4, '0')).join('') + '.';
const c = v => v === null || v === undefined ? 'n' : v === true ? 't' : v === false ? 'f'
  : typeof v === 'string' ? s(v)
  : typeof v === 'number' ? (Math.abs(v) > 9007199254740992 || !isFinite(v) ? '#'
      : 'd' + (v === 0 ? 0 : v).toExponential(11).replace('e+', 'e') + '.')
  : Array.isArray(v) ? '[' + v.map(c).join('') + ']'
  : '{' + Object.keys(v).map(k => [s(k), c(v[k])]).sort((a, b) => a[0] < b[0] ? -1 : 1).map(p => p[0] + p[1]).join('') + '}';
const out = [];
for (const line of require('fs').readFileSync(0, 'latin1').split('\n').slice(0, -1)) {
  try {
    const m = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(line, 'hex')));
    out.push(c(m.params.name) + c(m.params.arguments));
  } catch { out.push('!'); }
}
process.stdout.write(out.join('\n') + '\n');
"#;

const PYTHON: &str = r#"
import json, sys
def s(t): return 's' + t.encode('utf-16-be', 'surrogatepass').hex() + '.'
def d(v):
    if v != v or abs(v) > 9007199254740992: return '#'
    m, e = ('%.11e' % (v if v != 0 else 0)).split('e')
    return 'd%se%d.' % (m, int(e))
def c(v):
    if v is None: return 'n'
    if v is True: return 't'
    if v is False: return 'f'
    if isinstance(v, str): return s(v)
    if isinstance(v, (int, float)): return d(v)
    if isinstance(v, list): return '[' + ''.join(map(c, v)) + ']'
    return '{' + ''.join(k + x for k, x in sorted((s(k), c(x)) for k, x in v.items())) + '}'
for line in sys.stdin:
    try:
        p = json.loads(bytes.fromhex(line.strip()).decode('utf-8'))['params']
        print(c(p.get('name')) + c(p.get('arguments')))
    except Exception: print('!')
"#;

/// Has a program of another language read all; `None` where it is not there.
fn elsewhere(program: &str, arguments: &[&str], messages: &[Vec<u8>]) -> Option<Vec<Option<String>>> {
    let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let mut to = child.stdin.take()?;
    let text: String = messages
        .iter()
        .map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n")
        .collect();
    let writer = std::thread::spawn(move || to.write_all(text.as_bytes()));
    let out = child.wait_with_output().ok()?;
    writer.join().ok()?.ok()?;
    let lines: Vec<_> = String::from_utf8(out.stdout)
        .ok()?
        .lines()
        .map(|line| Some(line.to_owned()).filter(|line| line != "!"))
        .collect();
    (lines.len() == messages.len()).then_some(lines)
}
