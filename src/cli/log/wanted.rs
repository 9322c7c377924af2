//! Which records a command wants: a search, and options for what is asked most. Reads no log.

use crate::audit::fields::Field;
use crate::audit::moment::{Clock, Since};
use crate::audit::record::{By, Kind, VerdictWord};
use crate::audit::search::{Meaningless, Search};
use crate::policy::glob::Glob;
use crate::wire::words::UnknownWord;

#[derive(Clone, Debug, Default, clap::Args)]
pub struct RecordsWanted {
    /// Words and fields, as in the console's Log: README.md verdict:deny since:yesterday
    #[arg(value_name = "SEARCH")]
    pub search: Vec<String>,
    /// Only servers with this in their name (or a glob)
    #[arg(long, value_name = "NAME", value_parser = Glob::new)]
    pub server: Option<Glob>,
    /// Only tools with this in their name (or a glob)
    #[arg(long, value_name = "NAME", value_parser = Glob::new)]
    pub tool: Option<Glob>,
    /// Only this kind of record: decision, decision-asked, forward, outcome, withdrawn, …
    #[arg(long)]
    pub kind: Option<Kind>,
    /// Only this verdict: approve or deny
    #[arg(long, value_parser = verdict)]
    pub verdict: Option<VerdictWord>,
    /// Only what this decided: policy, rule, operator, expiry, …
    #[arg(long, value_parser = by)]
    pub by: Option<By>,
    /// Only from then on: today, yesterday, 2026-11-21, 14:30, 30d, 1h, 5m, 2026-11-21T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Only before then; a day counts to its end
    #[arg(long, value_name = "WHEN")]
    pub until: Option<Since>,
    /// Read and show days and times in UTC
    #[arg(long)]
    pub utc: bool,
}

/// A verdict by any of the words that people use.
fn verdict(word: &str) -> Result<VerdictWord, UnknownWord> {
    match word {
        "allow" | "allowed" | "approved" => Ok(VerdictWord::Approve),
        "denied" => Ok(VerdictWord::Deny),
        word => word.parse(),
    }
}

fn by(word: &str) -> Result<By, UnknownWord> {
    if word == "policy" { Ok(By::Default) } else { word.parse() }
}

impl RecordsWanted {
    pub(super) fn search(&self, clock: Clock) -> Result<Search, Meaningless> {
        let search = Search::read(&self.search.join(" "), clock)?
            .with_part(Field::Server, self.server.as_ref())
            .with_part(Field::Tool, self.tool.as_ref())
            .with(Field::Kind, self.kind.map(Kind::word))
            .with(Field::Verdict, self.verdict.map(VerdictWord::word))
            .with(Field::By, self.by.map(By::word));
        let (since, until) = (self.since.map(|since| since.moment(clock)), self.until.map(|until| until.end(clock)));
        Ok(search.from(since).before(until))
    }
}
