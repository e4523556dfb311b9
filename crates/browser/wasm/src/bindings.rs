//! The functions of the module: values go in and out as JSON texts, errors are the command line's
//! messages.

use serde::Serialize;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::choice::Choice;
use crate::live::{Listener, Row};
use crate::presets::PRESETS;
use crate::{compare, prepare, run};

#[wasm_bindgen]
extern "C" {
    /// The page's object that receives the progress of a run.
    pub type PageListener;

    /// Receives a [`Row`]. The arrays are views of the module's memory: a listener that keeps them
    /// copies them.
    #[wasm_bindgen(method, structural)]
    fn row(this: &PageListener, at: f64, levels: &[u8], flows: &[f64], dropped: u32);
}

impl Listener for &PageListener {
    fn row(&mut self, row: Row<'_>) {
        PageListener::row(self, row.at, row.levels, row.flows, row.dropped);
    }
}

/// Heddle's version.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// The scenarios to start from: see [`crate::presets::Preset`].
///
/// # Errors
/// If they cannot be written as JSON.
#[wasm_bindgen]
pub fn presets() -> Result<String, String> {
    json(&PRESETS)
}

/// Values offered by the controls for a scenario file: see [`prepare::Offer`].
///
/// # Errors
/// The command line's message, if the file is wrong.
#[wasm_bindgen]
pub fn offer(text: &str) -> Result<String, String> {
    json(&prepare::offer(text)?)
}

/// A [`Choice`] that is ready to run: see [`prepare::Prepared`].
///
/// # Errors
/// The command line's message, if the scenario is wrong.
#[wasm_bindgen]
pub fn prepare(choice: &str) -> Result<String, String> {
    json(&prepare::prepare(&choice_of(choice)?)?)
}

/// Runs a [`Choice`]: see [`run::Finished`].
///
/// # Errors
/// The command line's message, if the scenario is wrong or cannot run.
#[wasm_bindgen]
pub fn run(choice: &str, listener: &PageListener) -> Result<String, String> {
    let mut listener = listener;
    json(&run::run(&choice_of(choice)?, &mut listener)?)
}

/// The distributions of flow completion times of a list of summaries, as SVG.
///
/// # Errors
/// If the text is no list of summaries.
#[wasm_bindgen]
pub fn distributions(summaries: &str) -> Result<String, String> {
    let runs: Vec<_> = serde_json::from_str(summaries).map_err(|error| error.to_string())?;
    Ok(compare::distributions(&runs))
}

fn choice_of(text: &str) -> Result<Choice, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn json(value: &impl Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}
