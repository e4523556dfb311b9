//! Makes the page that runs the simulator: `heddle-browser-page MODULE.wasm PAGE.html`.
//!
//! The page is one file. A page that was opened as a file may load neither modules nor WebAssembly
//! by address, so that the module is in it, compressed, as base64; what wasm-bindgen makes around
//! the module is a classic script. It loads nothing: its content security policy forbids it.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use wasm_bindgen_cli_support::Bindgen;

const TEMPLATE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const LINK: &str = include_str!("../assets/link.js");
const PANEL: &str = include_str!("../assets/panel.js");
const WORKER: &str = include_str!("../assets/worker.js");

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, page] = arguments.as_slice() else {
        bail!("usage: heddle-browser-page MODULE.wasm PAGE.html");
    };
    let (glue, wasm) = bind(Path::new(module)).with_context(|| module.clone())?;
    let text = page_of(&glue, &wasm)?;
    let folder = Path::new(page).parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    fs::write(page, text).with_context(|| page.clone())
}

/// The script around a module and the module that goes with it.
fn bind(module: &Path) -> anyhow::Result<(String, Vec<u8>)> {
    let mut output = Bindgen::new()
        .input_path(module)
        .no_modules(true)?
        .typescript(false)
        .omit_default_module_path(true)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate_output()?;
    let wasm = output.wasm_mut().emit_wasm();
    Ok((output.js().to_owned(), wasm))
}

/// The page with all its parts.
fn page_of(glue: &str, wasm: &[u8]) -> anyhow::Result<String> {
    for script in [glue, PANEL, LINK, SCRIPT, WORKER] {
        ensure!(!script.contains("</script"), "a script must not end its own element");
    }
    let style = format!("{}\n{STYLE}", colours());
    let parts = [
        ("{{style}}", style.as_str()),
        ("{{glue}}", glue),
        ("{{worker}}", WORKER),
        ("{{panel}}", PANEL),
        ("{{link}}", LINK),
        ("{{script}}", SCRIPT),
        ("{{module}}", &STANDARD.encode(compressed(wasm)?)),
    ];
    let mut page = TEMPLATE.to_owned();
    for (mark, part) in parts {
        let (before, after) = page.split_once(mark).with_context(|| format!("no {mark}"))?;
        page = format!("{before}{part}{after}");
    }
    Ok(page)
}

/// The colours of the report's drawings, light and dark.
fn colours() -> String {
    let (light, dark) = heddle_report::page_colours();
    format!(
        ":root{{color-scheme:light dark;{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )
}

fn compressed(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_all_its_parts_and_loads_nothing() {
        let page = page_of("let wasm_bindgen = {};", b"module").unwrap();
        assert!(!page.contains("{{"), "every mark is replaced");
        assert!(page.contains("default-src 'none'"));
        let markup: String =
            page.lines().filter(|line| line.starts_with('<')).collect::<Vec<_>>().join("\n");
        for attribute in [" src=", "href=\"http", "url("] {
            assert!(!markup.contains(attribute), "{attribute}");
        }
        assert!(page.contains("--u9:") && page.contains(&STANDARD.encode([0x1f, 0x8b])[..2]));
    }

    #[test]
    fn a_script_that_would_end_its_element_is_refused() {
        assert!(page_of("\"</script>\"", b"").is_err());
    }

    #[test]
    fn a_file_that_is_no_module_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("no.wasm");
        fs::write(&file, "no module").unwrap();
        assert!(bind(&file).is_err());
    }
}
