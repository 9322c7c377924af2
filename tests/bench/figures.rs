//! The figures G1 to G6, counted from judged tools. Reads no file.

use std::collections::BTreeMap;
use std::fmt;

use mcp_approve::behavior::taxonomy::Confidence;
use mcp_approve::behavior::voters::Says;
use serde_json::Value;

use super::folds::Judged;

/// What the voters and the degrees get, against the authors' `readOnlyHint`. The first of a pair counts tools that read.
#[derive(Default)]
pub struct Figures {
    all: [u32; 2],
    proven: [u32; 2],
    likely: [u32; 2],
    destructive: u32,
    destructive_proven: u32,
    /// Per voter: reads, may read, changes, silent.
    votes: [[[u32; 2]; 4]; 3],
    /// Proven and all tools that read, per server: ten servers hold most tools.
    servers: BTreeMap<String, [u32; 2]>,
    gold: u32,
    /// Mutability, action, domain, all three.
    agreed: [u32; 4],
}

impl Figures {
    pub fn of(judged: &[Judged<'_>]) -> Self {
        let mut figures = Self::default();
        judged.iter().for_each(|one| figures.add(one));
        figures
    }

    pub fn add(&mut self, judged: &Judged<'_>) {
        if let Some(gold) = &judged.tool.gold {
            let said = judged.said();
            self.gold += 1;
            for (agreed, fits) in
                self.agreed.iter_mut().zip([said[0] == gold[0], said[1] == gold[1], said[2] == gold[2], said == *gold])
            {
                *agreed += u32::from(fits);
            }
        }
        let Some(read_only) = judged.tool.read_only else { return };
        let side = usize::from(!read_only);
        let proven = u32::from(judged.behavior.confidence == Confidence::Proven);
        self.all[side] += 1;
        self.proven[side] += proven;
        self.likely[side] += u32::from(judged.behavior.confidence == Confidence::Likely);
        if read_only {
            let server = self.servers.entry(judged.tool.package.clone()).or_default();
            server[0] += proven;
            server[1] += 1;
        } else if judged.tool.destructive {
            self.destructive += 1;
            self.destructive_proven += proven;
        }
        for (counts, vote) in self.votes.iter_mut().zip(&judged.votes) {
            let says = match vote.says {
                Says::Reads => 0,
                Says::MayRead => 1,
                Says::Changes => 2,
                Says::Silent => 3,
            };
            counts[says][side] += 1;
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [reading, changing] = self.all;
        writeln!(f, "{reading} tools that read, {changing} that change something")?;
        for (voter, counts) in ["name", "description", "learned"].iter().zip(&self.votes) {
            let of = |side: usize| {
                counts
                    .iter()
                    .map(|count| format!("{:.1}", percent(count[side], self.all[side])))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            writeln!(
                f,
                "  {voter:<12} reads, may read, changes, silent: of those that read {} %; of those that change {} %",
                of(0),
                of(1)
            )?;
        }
        let by_server = self.servers.values().map(|[hit, all]| percent(*hit, *all)).sum::<f64>()
            / (self.servers.len().max(1) as f64);
        writeln!(f, "G1 proven, but changes: {} ({:.2} %)", self.proven[1], percent(self.proven[1], changing))?;
        writeln!(
            f,
            "G2 proven recall {:.1} % (mean over servers {by_server:.1} %); proven or likely {:.1} %",
            percent(self.proven[0], reading),
            percent(self.proven[0] + self.likely[0], reading)
        )?;
        writeln!(
            f,
            "G2b false among likely: {} ({:.1} %)",
            self.likely[1],
            percent(self.likely[1], self.likely[0] + self.likely[1])
        )?;
        writeln!(f, "G3 proven among destructive: {} of {}", self.destructive_proven, self.destructive)?;
        let agreed = |at: usize| percent(self.agreed[at], self.gold);
        write!(
            f,
            "G6 gold: mutability {:.1} %, action {:.1} %, domain {:.1} %, triple {:.1} % of {}",
            agreed(0),
            agreed(1),
            agreed(2),
            agreed(3),
            self.gold
        )
    }
}

/// Groups of one server's tools with equal arguments whose authors' hints differ: in how many no changing tool is PURE.
pub fn groups(judged: &[Judged<'_>]) -> String {
    let mut groups: BTreeMap<(&str, String), Vec<&Judged<'_>>> = BTreeMap::new();
    for one in judged.iter().filter(|one| one.tool.read_only.is_some()) {
        groups.entry((&one.tool.package, shape(&one.tool.tool.definition))).or_default().push(one);
    }
    let has = |group: &&Vec<&Judged<'_>>, read_only| group.iter().any(|one| one.tool.read_only == Some(read_only));
    let mixed: Vec<_> = groups.values().filter(|group| has(group, true) && has(group, false)).collect();
    let pure = |one: &&Judged<'_>| one.tool.read_only == Some(false) && one.said()[0] == "PURE";
    format!("{} of {}", mixed.iter().filter(|group| !group.iter().any(pure)).count(), mixed.len())
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

impl Judged<'_> {
    /// Mutability, action, output domain.
    pub fn said(&self) -> [&'static str; 3] {
        let identity = self.behavior.identity;
        [identity.mutability.word(), identity.action.word(), identity.output_domain.word()]
    }

    /// Prints the tool where its degree, or its identity, is wrong.
    pub fn print(&self, wrong: bool, gold: bool) {
        let tool = self.tool;
        let kind = match (tool.read_only, self.behavior.confidence) {
            (Some(false), Confidence::Proven) if tool.destructive => "PROVEN, DESTROYS",
            (Some(false), Confidence::Proven) => "PROVEN, CHANGES",
            (Some(false), Confidence::Likely) => "likely, changes",
            (Some(true), Confidence::None) => "missed",
            (Some(true), Confidence::Likely) => "only likely",
            _ => "",
        };
        let description: String = tool.tool.description.as_deref().unwrap_or_default().chars().take(160).collect();
        let votes =
            self.votes.iter().map(|vote| format!("{:?} {}", vote.says, vote.span)).collect::<Vec<_>>().join("; ");
        if wrong && !kind.is_empty() {
            println!("{kind}\t{}\t{}\t{votes}\t{description:?}", tool.package, tool.tool.name);
        }
        if let Some(wanted) = tool.gold.as_ref().filter(|wanted| gold && **wanted != self.said()) {
            println!(
                "gold {}, said {}\t{}\t{}\t{description:?}",
                wanted.join("|"),
                self.said().join("|"),
                tool.package,
                tool.tool.name
            );
        }
    }
}

fn percent(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * f64::from(part) / f64::from(whole) }
}
