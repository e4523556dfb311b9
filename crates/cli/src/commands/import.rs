//! `heddle import`: files of other programs in Heddle's own forms.

use std::path::Path;

use heddle_claims::files::write_atomically;
use heddle_path_files::files::read_bytes;
use heddle_scenario::{Contents, ImportSettings, InputFile, import};
use serde_json::json;

use crate::args::{Common, Import};
use crate::failure::Failure;
use crate::{files, output};

/// Prints a file in Heddle's own form, or writes it; what was left out goes to standard error.
pub(crate) fn import_file(args: &Import, common: &Common) -> Result<(), Failure> {
    let files = args.file.iter().map(|path| read(path)).collect::<Result<Vec<_>, Failure>>()?;
    let groups = args.groups.as_deref().map(read).transpose()?;
    let imported = import(&files, &ImportSettings { size: args.size, groups })?;
    let text = match &imported.contents {
        Contents::Graph(value) => toml::to_string(value).map_err(anyhow::Error::from)?,
        Contents::Table(text) => text.clone(),
    };
    let notes = imported.notices.iter().filter(|_| !common.quiet);
    notes.for_each(|notice| eprintln!("note: {notice}"));
    let Some(out) = &args.out else { return output::line(text.trim_end()) };
    write_atomically(out, text.as_bytes()).map_err(anyhow::Error::from)?;
    tell(&imported.is, &imported.notices, out, common)
}

fn read(path: &Path) -> Result<InputFile, Failure> {
    let name = path.display().to_string();
    let bytes = read_bytes(path).map_err(|error| anyhow::anyhow!("{name}: {error}"))?;
    Ok(InputFile { name, bytes })
}

fn tell(is: &str, notices: &[String], out: &Path, common: &Common) -> Result<(), Failure> {
    let file = out.display().to_string();
    match common.json {
        true => files::print_json(&json!({ "file": file, "is": is, "notices": notices })),
        false => output::line(format_args!("{file}: {is}")),
    }
}
