//! Random traces of a scheme on standard output, with the decisions of the Rust: `random-traces SCHEME FIRST-SEED TRACES STEPS`.

use std::error::Error;

use heddle_vectors::random::Kind;
use heddle_vectors::record;

const USAGE: &str = "usage: random-traces ecmp|hula|mp-hula|cflb|dre FIRST-SEED TRACES STEPS";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [scheme, first, traces, steps] = words.as_slice() else { return Err(USAGE.into()) };
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == scheme).ok_or(USAGE)?;
    let first: u64 = first.parse()?;
    let seeds = first..first + traces.parse::<u64>()?;
    print!("{}", record::drawn(kind, seeds, steps.parse()?)?.text());
    Ok(())
}
