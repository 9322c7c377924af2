//! The lines of Rules: changes that wait, active grants, and the rules of the files with what they decided.

use std::sync::Arc;

use crate::audit::fields::Field;
use crate::console::model::{Model, RuleEntry, RuleHits};

/// What waits first, then what is granted, then the rules, then what the log suggests.
pub(super) fn lines(model: &Model) -> Vec<RuleEntry> {
    let search = &model.browse.rules.search;
    let mut lines: Vec<RuleEntry> = Vec::new();
    for (session, pending) in model.pending() {
        let told = |line: &RuleEntry| {
            matches!(line, RuleEntry::Waits { pending: known, .. }
                if known.file == pending.file && known.digest == pending.digest)
        };
        if !lines.iter().any(told) && search.wants(None, &[], || pending.file.clone()) {
            lines.push(RuleEntry::Waits { session: session.to_owned(), pending: Box::new(pending.clone()) });
        }
    }
    for one in &model.wrappers {
        for card in &one.status.grants {
            let fields = [
                (Field::Rule, Some(card.id.as_str())),
                (Field::Server, Some(one.wrapper.server.as_str())),
                (Field::Tool, Some(card.tool.as_str())),
                (Field::Session, Some(one.wrapper.session.as_str())),
            ];
            let text = || format!("{} {} {} {}", card.id, one.wrapper.server, card.tool, card.terms);
            if search.wants(Some(card.given), &fields, text) {
                let (session, server) = (one.wrapper.session.clone(), one.wrapper.server.clone());
                lines.push(RuleEntry::Grant { session, server, card: Box::new(card.clone()) });
            }
        }
    }
    lines.extend(written(model).into_iter().map(RuleEntry::Rule));
    let suggested = model.browse.suggested.found.iter().flat_map(|found| &found.rules);
    let wanted = suggested.filter(|rule| {
        let fields = [(Field::Server, Some(rule.server.as_str())), (Field::Tool, Some(rule.tool.as_str()))];
        let put_aside = model.browse.declined.iter().any(|other| other.is_like(rule));
        !put_aside && search.wants(None, &fields, || rule.toml.clone())
    });
    lines.extend(wanted.map(|rule| RuleEntry::Suggested(Arc::clone(rule))));
    lines
}

fn written(model: &Model) -> Vec<RuleHits> {
    let tally = model.browse.counts.as_deref().map(|counts| &counts.tally);
    let counted = |id: &str| tally.and_then(|tally| tally.rules.get(id)).cloned().unwrap_or_default();
    let hits = |id: &str, at: Option<usize>| {
        let counted = counted(id);
        RuleHits { id: id.to_owned(), at, hits: counted.hits, last: counted.last }
    };
    let book = model.browse.book.as_deref();
    let mut lines: Vec<RuleHits> = Vec::new();
    for (at, rule) in book.iter().flat_map(|book| book.rules.iter().enumerate()) {
        lines.push(hits(&rule.id, Some(at)));
    }
    // Rules that decided once and are in no file now. Grants never are, and each session reuses their names.
    let gone = tally.iter().flat_map(|tally| tally.rules.keys());
    let gone: Vec<_> = gone
        .filter(|id| !id.starts_with("grant:") && !lines.iter().any(|line| line.id == **id))
        .map(|id| hits(id, None))
        .collect();
    lines.extend(gone);
    let search = &model.browse.rules.search;
    lines.retain(|line| {
        let rule = line.at.and_then(|at| book?.rules.get(at));
        let select = |key| rule?.selects.iter().find(|(name, _)| *name == key).map(|(_, value)| value.as_str());
        let fields = [
            (Field::Rule, Some(line.id.as_str())),
            (Field::Ruling, rule.map(|rule| rule.decision.word())),
            (Field::Server, select("server")),
            (Field::Tool, select("tool")),
        ];
        let selects = || rule.map(|rule| format!("{:?} {:?}", rule.selects, rule.note)).unwrap_or_default();
        search.wants(line.last, &fields, || format!("{} {}", line.id, selects()))
    });
    lines
}
