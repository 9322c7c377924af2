//! Times the analysers of arguments alone, without a corpus: `cargo bench --bench arguments`.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod analysers;

fn main() {
    println!("{}", analysers::ten_kibibytes());
}
