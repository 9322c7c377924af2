//! The figures G1 to G6, counted from judged tools. Reads no file.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::corpus::{Corpus, Judged, Part};

/// The confusion matrix against the authors' `readOnlyHint`.
#[derive(Default)]
pub struct Recognition {
    pure_pure: u32,
    pure_mutates: u32,
    mutates_pure: u32,
    mutates_mutates: u32,
    destructive: u32,
    destructive_pure: u32,
    /// Mean over servers of PURE recall: ten servers hold most tools.
    recall_by_server: f64,
}

impl Recognition {
    pub fn of(corpus: &Corpus, part: Part) -> Self {
        let mut figures = Self::default();
        let mut servers: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for tool in corpus.part(part) {
            let pure = tool.said[0] == "PURE";
            match (tool.read_only, pure) {
                (Some(true), true) => figures.pure_pure += 1,
                (Some(true), false) => figures.pure_mutates += 1,
                (Some(false), true) => figures.mutates_pure += 1,
                (Some(false), false) => figures.mutates_mutates += 1,
                (None, _) => {}
            }
            if tool.read_only == Some(true) {
                let server = servers.entry(&tool.package).or_default();
                server.0 += u32::from(pure);
                server.1 += 1;
            }
            if tool.read_only == Some(false) && tool.destructive {
                figures.destructive += 1;
                figures.destructive_pure += u32::from(pure);
            }
        }
        let recalls: Vec<f64> = servers.values().map(|(hit, all)| f64::from(*hit) / f64::from(*all)).collect();
        figures.recall_by_server = recalls.iter().sum::<f64>() / (recalls.len().max(1) as f64);
        figures
    }

    pub fn false_pure(&self) -> f64 {
        share(self.mutates_pure, self.mutates_pure + self.mutates_mutates)
    }

    pub fn recall(&self) -> f64 {
        share(self.pure_pure, self.pure_pure + self.pure_mutates)
    }
}

impl fmt::Display for Recognition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "author PURE: {} PURE, {} MUTATES", self.pure_pure, self.pure_mutates)?;
        writeln!(f, "author MUTATES: {} PURE, {} MUTATES", self.mutates_pure, self.mutates_mutates)?;
        writeln!(f, "G1 false PURE {:.2} %", 100.0 * self.false_pure())?;
        writeln!(
            f,
            "G2 PURE recall {:.1} % (mean over servers {:.1} %)",
            100.0 * self.recall(),
            100.0 * self.recall_by_server
        )?;
        write!(f, "G3 false PURE among destructive {} of {}", self.destructive_pure, self.destructive)
    }
}

/// Agreement with the gold labels: mutability, action, output domain, whole triple.
pub fn agreement(corpus: &Corpus, part: Part) -> String {
    let judged: Vec<(&Judged, &[String; 3])> =
        corpus.part(part).filter_map(|tool| Some((tool, tool.gold.as_ref()?))).collect();
    let all = u32::try_from(judged.len()).unwrap_or(u32::MAX);
    let count = |agrees: &dyn Fn(&Judged, &[String; 3]) -> bool| {
        let agreeing = judged.iter().filter(|(tool, gold)| agrees(tool, gold)).count();
        100.0 * share(u32::try_from(agreeing).unwrap_or(u32::MAX), all)
    };
    format!(
        "mutability {:.1} %, action {:.1} %, domain {:.1} %, triple {:.1} % of {all}",
        count(&|tool, gold| tool.said[0] == gold[0]),
        count(&|tool, gold| tool.said[1] == gold[1]),
        count(&|tool, gold| tool.said[2] == gold[2]),
        count(&|tool, gold| tool.said == *gold),
    )
}

/// Groups of one server's tools with equal arguments whose authors' hints differ: how many are told apart.
pub fn groups(corpus: &Corpus, part: Part) -> String {
    let mut groups: BTreeMap<(&str, String), Vec<&Judged>> = BTreeMap::new();
    for tool in corpus.part(part).filter(|tool| tool.read_only.is_some()) {
        groups.entry((&tool.package, shape(&tool.definition))).or_default().push(tool);
    }
    let mixed: Vec<_> = groups
        .values()
        .filter(|tools| {
            tools.iter().any(|tool| tool.read_only == Some(true))
                && tools.iter().any(|tool| tool.read_only == Some(false))
        })
        .collect();
    // Told apart: no changing tool bears the badge of a reading one, and every reading one has its own.
    let apart = mixed
        .iter()
        .filter(|tools| tools.iter().all(|tool| (tool.said[0] == "PURE") == (tool.read_only == Some(true))))
        .count();
    format!("{apart} of {}", mixed.len())
}

/// Argument names, types and required set of a definition, as one text.
fn shape(definition: &Value) -> String {
    let schema = &definition["inputSchema"];
    let mut fields: Vec<String> = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, field)| {
            let required = schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name));
            format!("{name}{}:{}", if required { "!" } else { "" }, field["type"])
        })
        .collect();
    fields.sort();
    fields.join(",")
}

/// The behavioral identity paper's confusable pairs, as far as the corpus has both tools of one.
pub fn pairs(corpus: &Corpus) -> String {
    let said =
        |name: &str| corpus.tools.iter().find(|tool| tool.gold.is_some() && tool.name == name).map(|tool| &tool.said);
    let mut lines = Vec::new();
    let mut apart = 0;
    let mut known = 0;
    for (severity, one, other) in PAIRS {
        if let (Some(a), Some(b)) = (said(one), said(other)) {
            known += 1;
            apart += i32::from(a != b);
            lines.push(format!(
                "  {severity} {one} {} / {other} {}{}",
                a.join("|"),
                b.join("|"),
                if a == b { "  NOT SEPARATED" } else { "" }
            ));
        }
    }
    format!("confusable pairs separated: {apart} of {known}\n{}", lines.join("\n"))
}

const PAIRS: &[(&str, &str, &str)] = &[
    ("CRITICAL", "read_query", "write_query"),
    ("CRITICAL", "merge_pull_request", "update_pull_request_branch"),
    ("CRITICAL", "create_directory", "list_directory"),
    ("HIGH", "write_file", "edit_file"),
    ("HIGH", "write_file", "move_file"),
    ("HIGH", "add_issue_comment", "update_issue"),
    ("MEDIUM", "search_code", "search_issues"),
    ("MEDIUM", "get_pull_request", "get_pull_request_files"),
    ("MEDIUM", "list_directory", "directory_tree"),
    ("MEDIUM", "read_text_file", "get_file_contents"),
    ("MEDIUM", "git_diff_staged", "git_status"),
    ("MEDIUM", "search_repositories", "search_users"),
    ("MEDIUM", "create_issue", "create_pull_request"),
    ("LOW", "list_issues", "list_pull_requests"),
    ("LOW", "git_log", "git_show"),
];

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { f64::from(part) / f64::from(whole) }
}
