//! Times `lattice check` of a large workflow: `cargo bench --bench workflow`.
//!
//! Figures are of this machine at this moment, and of the profile it was built with.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench tells its figures, and has nobody to report to")]

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use mcp_approve::capability::set::{Capability, Caps};
use mcp_approve::capability::workflow::Workflow;

const AGENTS: usize = 10_000;
const EDGES: usize = 100_000;
const LIMIT: Duration = Duration::from_secs(2);

fn main() {
    println!("{AGENTS} agents, {EDGES} delegations; wanted: at most {LIMIT:?}");
    for (servers, tools) in [(1, 4), (50, 40), (200, 50)] {
        let manifests: BTreeMap<String, Caps> = (0..servers).map(|at| (format!("s{at}"), caps(at, tools))).collect();
        let text = workflow(servers);
        let start = Instant::now();
        let workflow = Workflow::read(&text).unwrap();
        let read = start.elapsed();
        let found = workflow.check(&manifests).count;
        let all = start.elapsed();
        println!(
            "{servers:>4} servers of {tools} tools: {all:.1?}, {read:.1?} of it to read the file; {found} breaches"
        );
        assert!(all < LIMIT);
    }
}

/// A workflow in which every agent has three servers and a list, and delegations go anywhere.
fn workflow(servers: usize) -> String {
    let mut text = String::new();
    for at in 0..AGENTS {
        let [one, two, three] = [0, 7, 14].map(|more| (at * 3 + more) % servers);
        text.push_str(&format!(
            "[agent.a{at}]\nservers = ['s{one}', 's{two}', 's{three}']\nallow = ['tool_{one}_0', 'tool_{one}_1']\nstarts = {}\n",
            at % 100 == 0
        ));
    }
    let mut seed = 12_345_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % AGENTS as u64
    };
    for at in 0..EDGES {
        text.push_str(&format!("[[delegate]]\nfrom = 'a{}'\nto = 'a{}'\n", random(), random()));
        if at % 10 == 0 {
            text.push_str(&format!("only = ['tool_{}_1']\n", at % servers));
        }
    }
    text
}

fn caps(server: usize, tools: usize) -> Caps {
    let any = || "any".to_owned();
    let one = |at| Capability { name: format!("tool_{server}_{at}"), arguments: any(), result: any() };
    Caps::Of((0..tools).map(one).collect())
}
