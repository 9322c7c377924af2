//! How long the Waiting screen takes: `cargo bench --bench frames_waiting`. 10,000 waiting calls and an argument of
//! 16 MiB: a frame at most 16 ms, the first look at most 100 ms. Figures are of this machine and this profile.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a bench that cannot go on ends")]

#[path = "../desk/mod.rs"]
mod desk;

use std::time::{Duration, Instant};

use desk::{Desk, own, own_delete, with_arguments, write};
use mcp_approve::console::keymap::Key;

fn main() {
    for (width, height) in [(80, 24), (120, 40)] {
        println!("== {width}×{height}");
        many(width, height);
        large(width, height);
        nested(width, height);
    }
}

fn many(width: u16, height: u16) {
    const CALLS: i64 = 10_000;
    let mut desk = Desk::connected(width, height);
    let arrival = spent(|| {
        for i in 0..CALLS {
            let ticket = format!("filesystem-{i}");
            let mut call = if i % 7 == 0 { own_delete(&ticket) } else { own(&ticket) };
            call.arrived += i;
            desk.hold(call);
        }
    });
    println!("10,000 calls arrive: {arrival:?}, {:?} each", arrival / 10_000);
    println!("first frame: {:?}", spent(|| desk.draw()));
    told("frame", 50, || desk.draw());
    told("key j and its frame", 50, || {
        desk.press(Key::Down);
    });
    told("key s and its frame", 20, || {
        desk.press(Key::Char('s'));
    });
    told("a call arrives, and its frame", 20, || {
        desk.now += 1;
        let ticket = format!("filesystem-{}", 20_000 + desk.now);
        desk.hold(own(&ticket));
        desk.draw();
    });
    let mut desk = Desk::connected(width, height);
    let arrival = spent(|| {
        for i in 0..CALLS {
            desk.hold(write(&format!("filesystem-{i}")));
        }
    });
    println!("10,000 identical calls arrive: {arrival:?}");
    told("frame of one row of 10,000", 20, || desk.draw());
}

fn large(width: u16, height: u16) {
    let text: String = "The quick brown fox jumps over the lazy dog. 0123456789\\n".repeat(300_000);
    let arguments = format!(r#"{{"path":"book.txt","content":"{text}"}}"#);
    println!("an argument of {} MiB", arguments.len() >> 20);
    let call = with_arguments(write("filesystem-1"), &arguments);
    let mut desk = Desk::connected(width, height);
    let look = spent(|| {
        desk.hold(call);
        desk.draw();
    });
    println!("first look: {look:?}");
    told("frame", 50, || desk.draw());
    told("page down and its frame", 50, || {
        desk.press(Key::PageDown);
    });
    println!("to the end: {:?}", spent(|| desk.press(Key::End).clear()));
    println!("resize: {:?}", spent(|| desk.resize(width - 1, height)));
}

/// Sixteen mebibytes of small objects: folded at the first look, then all of them on rows.
fn nested(width: u16, height: u16) {
    let row = r#"{"id":12345,"name":"row","tags":["a","b"],"at":{"x":1,"y":[{"z":null}]}}"#;
    let arguments = format!(r#"{{"rows":[{}]}}"#, vec![row; (16 << 20) / row.len()].join(","));
    println!("{} MiB of small objects", arguments.len() >> 20);
    let call = with_arguments(write("filesystem-1"), &arguments);
    let mut desk = Desk::connected(width, height);
    let look = spent(|| {
        desk.hold(call);
        desk.draw();
    });
    println!("first look, folded: {look:?}");
    told("frame", 50, || desk.draw());
    println!("Z unfolds all: {:?}", spent(|| desk.press(Key::Char('Z')).clear()));
    told("page down and its frame", 50, || {
        desk.press(Key::PageDown);
    });
    told("Tab and its frame", 50, || {
        desk.press(Key::Tab);
    });
    println!("z folds all of it: {:?}", spent(|| desk.press(Key::Char('z')).clear()));
}

fn spent(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// Median and worst of so many times.
fn told(what: &str, times: usize, mut work: impl FnMut()) {
    let mut all: Vec<Duration> = (0..times).map(|_| spent(&mut work)).collect();
    all.sort_unstable();
    println!("{what}: median {:?}, worst {:?}", all[times / 2], all[times - 1]);
}
