//! Times the analysers of arguments alone, without a corpus: `cargo bench --bench arguments`; with `--one N` only a small call, so
//! many times: for a profiler.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod analysers;
mod explaining;

fn main() {
    let mut words = std::env::args().skip_while(|word| word != "--one").skip(1);
    if let Some(rounds) = words.next().and_then(|number| number.parse().ok()) {
        println!("{}", explaining::one_call(rounds));
        return;
    }
    println!("{}", explaining::one_call(10_000));
    println!("{}", explaining::calls());
    println!("{}", analysers::ten_kibibytes());
}
