//! Rust types of what C and Rust share, by bindgen: `struct flow_key` is `FlowKey`, `TARGET_UP` of
//! `enum target_state` is `TargetState::Up`.

mod enums;
mod names;

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use crate::{Error, SOURCES, out_dir};
use names::{Names, camel};

/// Headers, and what bindgen cannot know of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Types {
    /// The headers, as paths below bpf/. What they include is not made into types of its own,
    /// unless a type of theirs needs it.
    pub headers: &'static [&'static str],
    /// Structs whose Rust type another crate has, by their names in C. To be imported where the
    /// result is included.
    pub foreign: &'static [&'static str],
    /// Enums whose values keep their names whole: `SENT_SYN` is `SentSyn`, where it would be `Syn`
    /// else.
    pub whole_names: &'static [&'static str],
    /// Values of enums that are no values: how many there are up to that one.
    pub totals: &'static [&'static str],
}

impl Types {
    /// Writes `OUT_DIR`/abi.rs. Each enum has a list of its values (`ALL`), their names (`name`)
    /// and is made of a number (`from_number`); each of its totals is a constant.
    ///
    /// # Errors
    /// [`Error::Types`] without libclang, or if a header cannot be read; [`Error::File`] if the
    /// result cannot be written.
    pub fn write(self) -> Result<(), Error> {
        if std::panic::catch_unwind(bindgen::clang_version).is_err() {
            return Err(Error::Types("libclang was not found".into()));
        }
        let seen = Rc::new(RefCell::new(Vec::new()));
        let bindings = self
            .builder()
            .parse_callbacks(Box::new(Names { types: self, enums: Rc::clone(&seen) }))
            .parse_callbacks(Box::new(bindgen::CargoCallbacks::new()))
            .generate()
            .map_err(|error| Error::Types(error.to_string()))?;
        let bindings = bindings.to_string();
        // Those of the system's headers are read, too.
        seen.borrow_mut().retain(|one| bindings.contains(&format!("enum {} ", camel(&one.name))));
        let text = plain_numbers(&bindings) + &enums::impls(self, &seen.borrow());
        let path = out_dir()?.join("abi.rs");
        std::fs::write(&path, text).map_err(|error| Error::File { path, error })
    }

    fn builder(self) -> bindgen::Builder {
        let mut builder = bindgen::Builder::default();
        for header in self.headers {
            let path = Path::new(SOURCES).join(header);
            builder = builder.header(path.to_string_lossy()).allowlist_file(format!(".*/{header}"));
        }
        for name in self.foreign {
            builder = builder.blocklist_type(name);
        }
        builder
            .clang_args(["-fparse-all-comments", "-I", SOURCES])
            .blocklist_type("__(u8|u16|u32|u64|be16)")
            .formatter(bindgen::Formatter::None)
            .use_core()
            .derive_default(true)
            .derive_eq(true)
            .explicit_padding(true)
            .prepend_enum_name(false)
            .merge_extern_blocks(true)
            .default_enum_style(bindgen::EnumVariation::Rust { non_exhaustive: false })
    }
}

/// Linux's names for numbers are Rust's with two underscores.
fn plain_numbers(text: &str) -> String {
    text.replace("__be16", "u16").replace("__u", "u")
}
