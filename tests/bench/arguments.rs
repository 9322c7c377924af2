//! Times the analysers of arguments alone, without a corpus: `cargo bench --bench arguments`.

#![allow(clippy::print_stdout, reason = "a program for a person at a terminal")]

mod analysers;
mod explaining;

fn main() {
    println!("{}", explaining::calls());
    println!("{}", analysers::ten_kibibytes());
}
