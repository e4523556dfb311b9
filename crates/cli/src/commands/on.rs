//! `heddle sweep --on`: a cluster of Dask's makes the runs, by the Python package.

use std::env;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use heddle_path_files::files::folder;
use heddle_scenario::Source;
use heddle_sim::engine_digest;
use serde_json::{Value, json};

use crate::args::Common;
use crate::failure::Failure;

/// Help for a machine without the Python package.
const HOW: &str = "pip install the wheel that `./x wheel` makes, and distributed; HEDDLE_PYTHON names another interpreter than python3";

/// The address of a scheduler, as Dask has it, of `dask://HOST:PORT`.
pub(crate) fn scheduler(text: &str) -> Result<String, String> {
    let address = text.strip_prefix("dask://").filter(|address| address.contains(':'));
    address.map(|address| format!("tcp://{address}")).ok_or_else(|| {
        "a scheduler of Dask's is wanted, dask://HOST:PORT (its port is 8786 unless it was given another)".to_owned()
    })
}

/// A run for a worker: a scenario's source and a seed.
pub(crate) fn cell(source: &Source, seed: u64) -> Result<Value, Failure> {
    let Source { name, text, overrides } = source;
    // A worker starts elsewhere.
    let folder = Path::new(".").join(folder(Path::new(name))).canonicalize()?;
    Ok(json!({ "name": name, "text": text, "settings": overrides, "folder": folder, "seed": seed }))
}

/// Has the workers of a scheduler make some runs, which go to a store.
pub(crate) fn make(
    scheduler: &str,
    cells: &[Value],
    store: &Path,
    common: &Common,
) -> Result<(), Failure> {
    let work = json!({
        "scheduler": scheduler,
        "engine": engine_digest(),
        "store": store,
        "quiet": common.quiet,
        "cells": cells,
    });
    let python = env::var("HEDDLE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut command = Command::new(&python);
    command.args(["-m", "heddle.cluster"]).stdin(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Failure::missing_program(format!("the program {python} is not installed"), HOW)
        }
        _ => anyhow::Error::new(error).context(python).into(),
    })?;
    if let Some(mut input) = child.stdin.take() {
        // A child that ends early says why.
        let _ = input.write_all(work.to_string().as_bytes());
    }
    match child.wait()?.code() {
        Some(0) => Ok(()),
        Some(130) => Err(Failure::interrupted("interrupted: the runs that are done are kept")),
        _ => Err(Failure::advised(
            "the cluster has not made all runs, as said above; what is done is kept",
            format!("give the same command again; if the package is missing, {HOW}"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheduler_is_dasks_with_host_and_port() {
        assert_eq!(scheduler("dask://10.0.0.1:8786").unwrap(), "tcp://10.0.0.1:8786");
        for wrong in ["10.0.0.1:8786", "dask://10.0.0.1", "tcp://10.0.0.1:8786"] {
            assert!(scheduler(wrong).unwrap_err().contains("dask://HOST:PORT"), "{wrong}");
        }
    }
}
