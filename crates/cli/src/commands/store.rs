//! `heddle store`: kept runs.

use heddle_study::store;

use crate::args::{Common, StoreMerge};
use crate::failure::Failure;
use crate::output::counted;
use crate::{files, output};

pub(crate) fn merge(args: &StoreMerge, common: &Common) -> Result<(), Failure> {
    let merged = store::merge(&args.into, &args.from).map_err(anyhow::Error::from)?;
    for path in merged.skipped.iter().filter(|_| !common.quiet) {
        eprintln!("warning: {}: no run of a store; it is left", path.display());
    }
    if let Some(path) = merged.conflicts.first() {
        let message = format!(
            "{} differs from the run of the same name in {}",
            path.display(),
            args.into.display()
        );
        return Err(anyhow::anyhow!(message)
            .context("stores do not fit together: an engine that is the same by its digest gave another result")
            .into());
    }
    if common.json {
        return files::print_json(&serde_json::json!({
            "copied": merged.copied,
            "known": merged.known,
            "skipped": merged.skipped,
        }));
    }
    let copied = counted(merged.copied, "file");
    output::line(format_args!("copied {copied}, {} were there already", merged.known))
}
