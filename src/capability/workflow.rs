//! Which agents of a workflow receive what, before it is deployed (capability lattice, section 4.4): does any agent receive a
//! capability outside of its allow list, over whatever delegations?
//!
//! `Effective(u → v) = Caps(v) ∩ Scope(u)` along every edge, to the least fixed point; `Scope(u)` is what others
//! delegate to `u` over all its edges, or all it has where it may start on its own.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Deserialize;

use super::set::{Capability, Caps};

#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// By name: foreign text.
    #[serde(rename = "agent", default)]
    pub agents: BTreeMap<String, Agent>,
    #[serde(rename = "delegate", default)]
    pub delegations: Vec<Delegation>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// The manifests of its servers: files, beside the workflow's.
    #[serde(default)]
    pub servers: Vec<String>,
    /// The tools it may have, by name; without the list, all of its servers' tools.
    pub allow: Option<BTreeSet<String>>,
    /// Whether it is also started on its own, with all that its servers have; one to which none delegates always is.
    #[serde(default)]
    pub starts: bool,
}

/// One agent delegates to another.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Delegation {
    pub from: String,
    pub to: String,
    /// The tools it passes on, by name; without the list, all it has.
    pub only: Option<BTreeSet<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoWorkflow {
    #[error("{0}")]
    NotToml(String),
    #[error("it names no agent. Write [agent.NAME] with servers = [\"manifest.json\"]")]
    NoAgents,
    #[error("a delegation names {0:?}, and there is no [agent.{0}]")]
    UnknownAgent(String),
}

/// One agent that receives what its allow list does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    pub agent: String,
    pub capability: Capability,
    /// The agents over which it comes, from where it starts to this one.
    pub path: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedWorkflow<'a> {
    /// What each agent ends up with, in order.
    pub effective: BTreeMap<&'a str, Vec<&'a Capability>>,
    /// The first breaches, by agent and capability.
    pub breaches: Vec<Breach>,
    /// How many there are in all.
    pub count: usize,
}

/// A breach's path is worked out for this many.
const MAX_BREACHES: usize = 1_000;

impl Workflow {
    /// Reads a workflow from TOML.
    /// Errors: [`NoWorkflow`], with the line where the text is no TOML.
    pub fn read(text: &str) -> Result<Self, NoWorkflow> {
        let workflow: Self = toml::from_str(text).map_err(|error| NoWorkflow::NotToml(error.to_string()))?;
        if workflow.agents.is_empty() {
            return Err(NoWorkflow::NoAgents);
        }
        for end in workflow.delegations.iter().flat_map(|one| [&one.from, &one.to]) {
            if !workflow.agents.contains_key(end) {
                return Err(NoWorkflow::UnknownAgent(end.clone()));
            }
        }
        Ok(workflow)
    }

    pub fn manifests(&self) -> BTreeSet<&str> {
        self.agents.values().flat_map(|agent| &agent.servers).map(String::as_str).collect()
    }

    /// Checks it, each manifest's capabilities given. One that is missing counts as ⊥: the caller has said so.
    pub fn check<'a>(&'a self, manifests: &'a BTreeMap<String, Caps>) -> CheckedWorkflow<'a> {
        Graph::of(self, manifests).checked(self)
    }
}

/// Sets of capabilities as bits, by a number for each.
type Bits = Vec<u64>;

struct Graph<'a> {
    names: Vec<&'a str>,
    capabilities: Vec<&'a Capability>,
    called: BTreeMap<&'a str, Vec<usize>>,
    /// What each agent's servers have.
    caps: Vec<Bits>,
    /// For each agent, to whom it delegates what.
    out: Vec<Vec<(usize, Option<Bits>)>>,
    starts: Vec<bool>,
}

impl<'a> Graph<'a> {
    fn of(workflow: &'a Workflow, manifests: &'a BTreeMap<String, Caps>) -> Self {
        let names: Vec<&str> = workflow.agents.keys().map(String::as_str).collect();
        let number: BTreeMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (*name, at)).collect();
        let listed = |agent: &'a Agent| {
            let known = agent.servers.iter().filter_map(|server| manifests.get(server));
            known.filter_map(Caps::listed).flatten()
        };
        let all: BTreeSet<&Capability> = workflow.agents.values().flat_map(listed).collect();
        let capabilities: Vec<&Capability> = all.into_iter().collect();
        let place: BTreeMap<&Capability, usize> = capabilities.iter().enumerate().map(|(at, one)| (*one, at)).collect();
        let empty = || vec![0_u64; capabilities.len().div_ceil(64)];
        let of_agent = |agent: &'a Agent| {
            let mut bits = empty();
            listed(agent).filter_map(|one| place.get(one)).for_each(|at| set(&mut bits, *at));
            bits
        };
        let mut called: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, one) in capabilities.iter().enumerate() {
            called.entry(&one.name).or_default().push(at);
        }
        let mut out = vec![Vec::new(); names.len()];
        for one in &workflow.delegations {
            if let (Some(from), Some(to)) = (number.get(one.from.as_str()), number.get(one.to.as_str())) {
                out[*from].push((*to, one.only.as_ref().map(|only| named(&called, only, empty()))));
            }
        }
        let caps = workflow.agents.values().map(of_agent).collect();
        let starts = workflow.agents.values().map(|agent| agent.starts).collect();
        let mut graph = Self { names, capabilities, called, caps, out, starts };
        graph.start_the_rest();
        graph
    }

    /// Marks the agents that start on their own without saying so: those to which no other delegates, and every agent
    /// of a cycle that no started agent reaches, since one of them must be first and the workflow does not say which.
    fn start_the_rest(&mut self) {
        let all = 0..self.names.len();
        let forward: Vec<Vec<usize>> = self.out.iter().map(|out| out.iter().map(|(to, _)| *to).collect()).collect();
        let mut into = vec![Vec::new(); all.len()];
        for (from, to) in all.clone().flat_map(|from| forward[from].iter().map(move |to| (from, *to))) {
            if from != to {
                into[to].push(from);
            }
        }
        for (starts, into) in self.starts.iter_mut().zip(&into) {
            *starts |= into.is_empty();
        }
        let mut reached = vec![false; all.len()];
        reach(&forward, all.clone().filter(|at| self.starts[*at]).collect(), &mut reached);
        // In this order a cycle comes before every agent that it reaches and that does not reach it.
        for first in finished_last_first(&forward) {
            if reached[first] {
                continue;
            }
            let mut ring = vec![false; all.len()];
            reach(&into, vec![first], &mut ring);
            for (starts, in_ring) in self.starts.iter_mut().zip(&ring) {
                *starts |= in_ring;
            }
            reach(&forward, vec![first], &mut reached);
        }
    }

    fn checked(&self, workflow: &Workflow) -> CheckedWorkflow<'a> {
        let scopes = self.scopes();
        let mut checked = CheckedWorkflow::default();
        // The first breaches, as agent and capability.
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (at, ((name, agent), scope)) in self.names.iter().zip(workflow.agents.values()).zip(&scopes).enumerate() {
            checked.effective.insert(*name, ones(scope).map(|one| self.capabilities[one]).collect());
            let Some(allow) = &agent.allow else { continue };
            let allow = named(&self.called, allow, vec![0; scope.len()]);
            let outside: Bits = scope.iter().zip(&allow).map(|(scope, allow)| scope & !allow).collect();
            checked.count += outside.iter().map(|word| word.count_ones() as usize).sum::<usize>();
            found.extend(ones(&outside).map(|one| (at, one)).take(MAX_BREACHES - found.len()));
        }
        let mut paths: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
        for one in found.iter().map(|(_, one)| *one).collect::<BTreeSet<_>>() {
            let ways = self.ways(one);
            let agents = found.iter().filter(|(_, other)| *other == one).map(|(at, _)| *at);
            paths.extend(agents.map(|at| ((at, one), self.path(at, &ways))));
        }
        let breach = |((at, one), path): ((usize, usize), Vec<String>)| Breach {
            agent: self.names[at].to_owned(),
            capability: self.capabilities[one].clone(),
            path,
        };
        checked.breaches = paths.into_iter().map(breach).collect();
        checked
    }

    /// What each agent ends up with: the least fixed point over all edges.
    fn scopes(&self) -> Vec<Bits> {
        let empty = vec![0_u64; self.capabilities.len().div_ceil(64)];
        let own = |(caps, starts): (&Bits, &bool)| if *starts { caps.clone() } else { empty.clone() };
        let mut scopes: Vec<Bits> = self.caps.iter().zip(&self.starts).map(own).collect();
        let mut queue: VecDeque<usize> = (0..scopes.len()).collect();
        let mut waits = vec![true; scopes.len()];
        while let Some(at) = queue.pop_front() {
            waits[at] = false;
            let scope = scopes[at].clone();
            for (to, only) in &self.out[at] {
                let mut grown = false;
                for (word, theirs) in scopes[*to].iter_mut().enumerate() {
                    let only = only.as_ref().map_or(u64::MAX, |only| only[word]);
                    let more = scope[word] & self.caps[*to][word] & only & !*theirs;
                    *theirs |= more;
                    grown |= more != 0;
                }
                if grown && !std::mem::replace(&mut waits[*to], true) {
                    queue.push_back(*to);
                }
            }
        }
        scopes
    }

    /// For each agent, the one before it on the shortest path by which the capability reaches it.
    fn ways(&self, capability: usize) -> Vec<Option<usize>> {
        let has = |at: usize| is_set(&self.caps[at], capability);
        let mut before = vec![None; self.names.len()];
        let mut seen: Vec<bool> = self.starts.iter().enumerate().map(|(at, starts)| *starts && has(at)).collect();
        let mut queue: VecDeque<usize> = (0..seen.len()).filter(|at| seen[*at]).collect();
        while let Some(at) = queue.pop_front() {
            for (to, only) in &self.out[at] {
                let is_handed = only.as_ref().is_none_or(|only| is_set(only, capability));
                if is_handed && has(*to) && !std::mem::replace(&mut seen[*to], true) {
                    before[*to] = Some(at);
                    queue.push_back(*to);
                }
            }
        }
        before
    }

    fn path(&self, agent: usize, ways: &[Option<usize>]) -> Vec<String> {
        let mut path: Vec<usize> = std::iter::successors(Some(agent), |at| ways[*at]).collect();
        path.reverse();
        path.into_iter().map(|at| self.names[at].to_owned()).collect()
    }
}

fn reach(edges: &[Vec<usize>], from: Vec<usize>, reached: &mut [bool]) {
    let mut waiting = from;
    while let Some(at) = waiting.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            waiting.extend(&edges[at]);
        }
    }
}

fn finished_last_first(edges: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::with_capacity(edges.len());
    for root in 0..edges.len() {
        let mut open = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((at, next)) = open.last_mut() {
            let to = edges[*at].get(*next).copied();
            *next += 1;
            match to {
                Some(to) if std::mem::replace(&mut seen[to], true) => {}
                Some(to) => open.push((to, 0)),
                None => order.extend(open.pop().map(|(at, _)| at)),
            }
        }
    }
    order.reverse();
    order
}

/// The capabilities that have one of these names, set in `bits`.
fn named(called: &BTreeMap<&str, Vec<usize>>, names: &BTreeSet<String>, mut bits: Bits) -> Bits {
    let places = names.iter().filter_map(|name| called.get(name.as_str())).flatten();
    places.for_each(|at| set(&mut bits, *at));
    bits
}

fn ones(bits: &Bits) -> impl Iterator<Item = usize> + '_ {
    bits.iter().enumerate().flat_map(|(word, bits)| {
        let rest = |left: &u64| Some(left & (left - 1)).filter(|left| *left != 0);
        let left = std::iter::successors(Some(*bits).filter(|bits| *bits != 0), rest);
        left.map(move |left| word * 64 + left.trailing_zeros() as usize)
    })
}

fn set(bits: &mut Bits, at: usize) {
    bits[at / 64] |= 1 << (at % 64);
}

fn is_set(bits: &Bits, at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}
