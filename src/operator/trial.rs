//! The thread that tries rules and policies on past calls. It opens the log for reading only, reads a slice at a time, newest
//! first, and stops for a newer question of the same kind; an open panel goes before suggestions.

use std::collections::{BTreeSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, mpsc};

use memchr::memmem;

use crate::audit::index::{Index, SEGMENT, Walk, Walked};
use crate::audit::{Field, ReadOrder, Reader, Search, StoreError, chain::Row, past::Gathering};
use crate::behavior::{conclude, conclude::Replaced};
use crate::gate::held::target;
use crate::operator::found::Finding;
use crate::operator::rule_book::DANGEROUS;
use crate::operator::tried::{
    Coverage, Examined, Matched, PastLine, Replayed, Suggested, SuggestedRule, Trial, Tried, Which,
};
use crate::operator::{Sources, rule_book};
use crate::policy::past::{Answer, Ended, PastCall, Replay, Suggestion, answer, replay, ruled_by, suggest};
use crate::policy::{Decision, Policy, Recent, Roots, maker::Title, parse, rules_name};
use crate::wire::{Digest, counted};

/// How many calls are looked at for a rule, and for a policy.
const MOST: usize = 20_000;
const LISTED: usize = 40;
/// How far back a policy is replayed, in milliseconds.
const BACK: i64 = 30 * 86_400_000;

/// Starts the thread. It ends with the last sender.
pub fn start(sources: Sources, tell: impl Fn(Finding) + Send + 'static) -> std::io::Result<Sender<Trial>> {
    let (ask, trials) = mpsc::channel();
    let runner = TrialRunner { sources, tell: Box::new(tell), trials, queue: VecDeque::new() };
    std::thread::Builder::new().name("trial".to_owned()).spawn(move || runner.run())?;
    Ok(ask)
}

struct TrialRunner {
    sources: Sources,
    tell: Box<dyn Fn(Finding) + Send>,
    trials: Receiver<Trial>,
    queue: VecDeque<Trial>,
}

impl TrialRunner {
    fn run(mut self) {
        loop {
            if self.queue.is_empty() {
                match self.trials.recv() {
                    Ok(trial) => self.put(trial),
                    Err(_) => return,
                }
            }
            self.hear();
            // What is on screen comes first.
            let looked_at = self.queue.iter().position(|trial| !matches!(trial, Trial::Suggestions { .. }));
            let Some(trial) = self.queue.remove(looked_at.unwrap_or(0)) else { continue };
            match self.attempt(&trial) {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => {
                    if !self.queue.iter().any(|newer| newer.is_like(&trial)) {
                        self.queue.push_back(trial);
                    }
                }
                Err(why) => (self.tell)(Finding::Tried(Tried::Failed { id: trial.id(), why })),
            }
        }
    }

    fn put(&mut self, trial: Trial) {
        self.queue.retain(|older| !older.is_like(&trial));
        self.queue.push_back(trial);
    }

    fn hear(&mut self) {
        while let Ok(trial) = self.trials.try_recv() {
            self.put(trial);
        }
    }

    /// Whether this trial is still what is wanted most.
    fn goes_on(&mut self, trial: &Trial) -> ControlFlow<()> {
        self.hear();
        let gives_way = match trial {
            Trial::Suggestions { .. } => !self.queue.is_empty(),
            Trial::Rules { .. } | Trial::Policy { .. } => self.queue.iter().any(|newer| newer.is_like(trial)),
        };
        if gives_way { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn attempt(&mut self, trial: &Trial) -> Result<ControlFlow<()>, String> {
        match trial {
            Trial::Rules { id, server, tool, roots, rules } => self.rules(trial, *id, (server, tool), (roots, rules)),
            Trial::Policy { id, which } => self.policy(trial, *id, which),
            Trial::Suggestions { id } => self.suggestions(trial, *id),
        }
    }

    /// Tries rules, each alone, on the calls of their tool; what was found so far is sent as it goes.
    fn rules(
        &mut self,
        trial: &Trial,
        id: u64,
        (server, tool): (&str, &str),
        (roots, rules): (&Roots, &[String]),
    ) -> Result<ControlFlow<()>, String> {
        let read = |toml: &String| parse::parse_at(&format!("version = 1\n\n{toml}"), roots).ok();
        let policies: Vec<Option<Policy>> = rules.iter().map(read).collect();
        let mut found: Vec<RuleMatches> = policies.iter().map(|_| RuleMatches::default()).collect();
        let recent = Recent::default();
        let mut calls = 0;
        let wanted = |of: &str, one: &str| one == tool && rules_name(of) == rules_name(server);
        self.each_slice(trial, &wanted, Some(tool), |runner, slice, walked| {
            calls += slice.len();
            for (matches, policy) in found.iter_mut().zip(&policies) {
                if let Some(policy) = policy {
                    slice.iter().for_each(|call| matches.take(call, &answer(policy, call, &recent)));
                }
            }
            let coverage = coverage(walked, calls);
            let (matched, examined) = (found.iter().map(RuleMatches::matched).collect(), Examined { calls, coverage });
            (runner.tell)(Finding::Tried(Tried::Rules { id, matched: Arc::new(matched), examined }));
            coverage
        })
    }

    fn policy(&mut self, trial: &Trial, id: u64, which: &Which) -> Result<ControlFlow<()>, String> {
        let policy = rule_book::tried(&self.sources.places, which)?;
        let server = match which {
            Which::Accepted { server: Some(server), .. } => Some(rules_name(server).to_owned()),
            Which::Written | Which::Accepted { server: None, .. } => None,
        };
        let wanted = move |of: &str, _: &str| server.as_ref().is_none_or(|server| rules_name(of) == server);
        let empty = || Arc::new(Replayed::default());
        let finding = |examined, replayed| Finding::Tried(Tried::Policy { id, replayed, examined });
        let report =
            |runner: &Self, calls| (runner.tell)(finding(Examined { calls, coverage: Coverage::Counting }, empty()));
        let Some((mut calls, coverage)) = self.gather(trial, &wanted, &report)? else {
            return Ok(ControlFlow::Break(()));
        };
        if let Some(before) = rule_book::before(&self.sources.places, which) {
            // What the change does, not what else has changed since each call was decided.
            ruled_by(&before, &mut calls, (self.sources.now)());
        }
        let replayed = Arc::new(Replayed::of(&replay(&policy, &calls, (self.sources.now)())));
        (self.tell)(finding(Examined { calls: calls.len(), coverage }, replayed));
        Ok(ControlFlow::Continue(()))
    }

    /// The calls of the last weeks, the oldest first; `None` where something else is wanted first.
    fn gather(
        &mut self,
        trial: &Trial,
        wanted: &dyn Fn(&str, &str) -> bool,
        report: &dyn Fn(&Self, usize),
    ) -> Result<Option<(Vec<PastCall>, Coverage)>, String> {
        let since = (self.sources.now)() - BACK;
        let (mut calls, mut reached) = (Vec::new(), Coverage::Counting);
        let ending = self.each_slice(trial, wanted, None, |runner, slice, walked| {
            let before = slice.last().is_some_and(|call| call.time < since);
            calls.extend(slice.into_iter().filter(|call| call.time >= since));
            reached = if before { Coverage::Newest } else { coverage(walked, calls.len()) };
            if reached == Coverage::Counting {
                report(runner, calls.len());
            }
            reached
        })?;
        calls.truncate(MOST);
        calls.sort_by_key(|call| call.seq);
        Ok(ending.is_continue().then_some((calls, reached)))
    }

    /// The newest first, as long as `take` counts on and nothing else is wanted. With `tool`, `wanted` calls are found sooner.
    fn each_slice(
        &mut self,
        trial: &Trial,
        wanted: &dyn Fn(&str, &str) -> bool,
        tool: Option<&str>,
        mut take: impl FnMut(&Self, Vec<PastCall>, Walked) -> Coverage,
    ) -> Result<ControlFlow<()>, String> {
        let Some(reader) = Reader::open(&self.sources.log).map_err(|error| said(&error))? else {
            take(self, Vec::new(), Walked::ToTheEnd);
            return Ok(ControlFlow::Continue(()));
        };
        // The index as the log reader has filled it so far: newer records are read, instead of waiting for the index.
        let newest = reader.newest().map_err(|error| said(&error))?;
        let index = if newest < SEGMENT { None } else { Index::open(&self.sources.log, &reader) };
        // JSON may escape other names; for those every record is read.
        let tool = tool.filter(|tool| tool.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.:/".contains(&b)));
        let field = tool.map(|tool| format!("\"tool\":\"{tool}\""));
        let finder = field.as_deref().map(memmem::Finder::new);
        let mut walk = Walk::new(Search::default().with(Field::Tool, tool), ReadOrder::NewestFirst, newest);
        let mut gathering = Gathering::new(ReadOrder::NewestFirst);
        loop {
            let mut slice = Vec::new();
            let visit = &mut |row: Row<'_>| {
                if finder.as_ref().is_none_or(|finder| finder.find(row.body).is_some()) {
                    slice.extend(gathering.take(&row, Some(wanted)));
                }
                ControlFlow::Continue(())
            };
            let walked = walk.step(&reader, index.as_ref(), visit).map_err(|error| said(&error))?;
            if take(self, slice, walked) != Coverage::Counting {
                return Ok(ControlFlow::Continue(()));
            }
            if self.goes_on(trial).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
}

fn said(error: &StoreError) -> String {
    format!("{error}; {}", error.hint())
}

fn coverage(walked: Walked, calls: usize) -> Coverage {
    match walked {
        Walked::ToTheEnd => Coverage::Whole,
        Walked::On if calls >= MOST => Coverage::Newest,
        Walked::On => Coverage::Counting,
    }
}

#[derive(Default)]
struct RuleMatches {
    counts: Matched,
    denied: Vec<PastLine>,
    others: Vec<PastLine>,
}

impl RuleMatches {
    fn take(&mut self, call: &PastCall, answer: &Answer) {
        let list = if call.ended == Ended::Refused { &mut self.denied } else { &mut self.others };
        if self.counts.count(call, answer) && list.len() < LISTED {
            list.push(PastLine::of(call));
        }
    }

    fn matched(&self) -> Matched {
        let lines = self.denied.iter().chain(&self.others).take(LISTED).cloned().collect();
        Matched { lines, ..self.counts.clone() }
    }
}

impl Matched {
    /// Counts a call by what the rule alone answers; whether the rule matches it.
    pub fn count(&mut self, call: &PastCall, answer: &Answer) -> bool {
        let matches = matches!(answer, Answer::Decided(ruling) if ruling.rule.is_some());
        self.undecided += usize::from(matches!(answer, Answer::Undecided(_)));
        self.calls += usize::from(matches);
        self.asked += usize::from(matches && call.ruling == Decision::Ask);
        self.denied += usize::from(matches && call.ended == Ended::Refused);
        matches
    }
}

impl Replayed {
    fn of(replayed: &Replay<'_>) -> Self {
        let by = |rule: &Option<String>| rule.clone().unwrap_or_default();
        let changes = replayed.changes.iter().rev().take(LISTED);
        Self {
            counts: replayed.counts(),
            changed: replayed.changes.len(),
            undecided: replayed.undecided.len(),
            changes: changes.map(|one| (PastLine::of(one.call), one.now.decision, by(&one.now.rule))).collect(),
        }
    }
}

impl PastLine {
    pub fn of(call: &PastCall) -> Self {
        Self {
            time: call.time,
            ticket: call.ticket.clone(),
            tool: call.tool.clone(),
            target: target::of(&call.behavior, &call.arguments).unwrap_or_default(),
            ruling: call.ruling,
            ended: call.ended,
        }
    }
}

const OFFERED: usize = 5;
/// How long a suggested allow rule lasts: a forgotten one does not stay in force.
const LASTS: i64 = 30 * 86_400_000;

/// A suggestion under a name that no other rule has.
pub struct Named<'c> {
    pub id: String,
    pub rule: Suggestion<'c>,
}

/// At most so many rules for past calls, and how many questions there were. One that the parser would refuse is left out.
pub fn named<'c>(policy: &Policy, calls: &'c [PastCall], now: i64, most: usize) -> (Vec<Named<'c>>, usize) {
    // Twice as many, because the parser may refuse some of them once they are written.
    let found = suggest(policy, calls, now, most.saturating_mul(2));
    let mut taken: BTreeSet<String> = policy.all_rules().map(|rule| rule.id.clone()).collect();
    let name = |rule: Suggestion<'c>| {
        let tool = rule.saves.first().map_or("rule", |call| call.tool.as_str());
        let id = rule.proposal.scope.id(tool, Decision::Allow, |id| taken.contains(id));
        let one = Named { id, rule };
        parse::parse_at(&format!("version = 1\n\n{}", one.text(None)), &policy.roots).ok()?;
        taken.insert(one.id.clone());
        Some(one)
    };
    (found.rules.into_iter().filter_map(name).take(most).collect(), found.questions)
}

impl Named<'_> {
    /// What it is called in a list: it follows from what it covers, so it stays while others are written or calls come.
    pub fn name(&self) -> String {
        let mut name = Digest::of(self.rule.proposal.body.as_bytes()).short();
        name.truncate(6);
        name
    }

    pub fn text(&self, expires: Option<i64>) -> String {
        let note = format!("suggested: {} saved", counted(self.rule.saves.len(), "question"));
        let title = Title { id: &self.id, decision: Decision::Allow, expires, note: Some(&note) };
        self.rule.proposal.text(&title)
    }

    fn listed(self, now: i64) -> Option<Arc<SuggestedRule>> {
        let toml = self.text(Some(now + LASTS));
        let Suggestion { proposal, saves } = self.rule;
        let first = saves.first()?;
        let mut warnings = proposal.warnings();
        if saves.iter().any(|call| conclude::danger(&call.behavior, Replaced::Perhaps).is_some()) {
            warnings.push(DANGEROUS.to_owned());
        }
        Some(Arc::new(SuggestedRule {
            id: self.id,
            scope: proposal.scope,
            server: first.server.clone(),
            tool: first.tool.clone(),
            toml,
            saves: saves.len(),
            warnings,
            lines: saves.iter().rev().take(LISTED).map(|call| PastLine::of(call)).collect(),
        }))
    }
}

impl TrialRunner {
    pub(super) fn suggestions(&mut self, trial: &Trial, id: u64) -> Result<ControlFlow<()>, String> {
        let policy = rule_book::tried(&self.sources.places, &Which::Written)?;
        let Some((calls, _)) = self.gather(trial, &|_, _| true, &|_, _| {})? else {
            return Ok(ControlFlow::Break(()));
        };
        let now = (self.sources.now)();
        let rules = named(&policy, &calls, now, OFFERED).0.into_iter().filter_map(|one| one.listed(now)).collect();
        let found = Suggested { calls: calls.len(), rules };
        (self.tell)(Finding::Tried(Tried::Suggestions { id, found: Arc::new(found) }));
        Ok(ControlFlow::Continue(()))
    }
}
