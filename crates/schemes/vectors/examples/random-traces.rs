//! Random traces of a scheme on standard output, with the decisions of the Rust:
//! `random-traces SCHEME FIRST-SEED TRACES STEPS`. `random-traces again` reads traces from standard
//! input, and writes their steps with the decisions of the Rust.

use std::error::Error;
use std::io;

use heddle_vectors::{Kind, VectorFile, record};

/// The command line, with the names of the schemes.
fn usage() -> String {
    let names = Kind::ALL.map(|kind| kind.name).join("|");
    format!(
        "usage: random-traces {names} FIRST-SEED TRACES STEPS, or random-traces again < TRACES.json"
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let file = match words.as_slice() {
        [scheme, first, traces, steps] => {
            let kind = Kind::named(scheme).ok_or_else(usage)?;
            let first: u64 = first.parse()?;
            record::drawn(kind, first..first + traces.parse::<u64>()?, steps.parse()?)?
        }
        [again] if again == "again" => {
            let given: VectorFile = serde_json::from_reader(io::stdin())?;
            record::again(&given)?
        }
        _ => return Err(usage().into()),
    };
    print!("{}", file.text());
    Ok(())
}
