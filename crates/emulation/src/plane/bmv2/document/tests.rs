//! The JSON Schema of the document, and the schemes that there are programs for.

use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;

use heddle_policy::{HulaConfig, MpHulaConfig, ShuttleConfig};
use heddle_scenario::Scheme;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use super::Switch;

const P4: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../p4");

/// An Ethernet address, as text or as a number.
pub(super) struct Ethernet;

impl JsonSchema for Ethernet {
    fn schema_name() -> Cow<'static, str> {
        "Ethernet".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": ["string", "integer"],
            "pattern": "^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$",
            "minimum": 0,
            "maximum": (1u64 << 48) - 1,
        })
    }
}

/// The schema of a document. Times and sizes may be numbers of nanoseconds and bytes, too; the
/// control plane knows no defaults, but has tau as `tau_shift`.
fn schema() -> Value {
    let settings = SchemaSettings::default().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<Switch>().to_value();
    schema["title"] = "Heddle P4 switch".into();
    for quantity in ["Time", "Size"] {
        schema["$defs"][quantity]["type"] = json!(["string", "integer"]);
        schema["$defs"][quantity]["minimum"] = 0.into();
    }
    let with_probes =
        [HulaConfig::schema_name(), MpHulaConfig::schema_name(), ShuttleConfig::schema_name()];
    for config in with_probes {
        let config = &mut schema["$defs"][&*config];
        for key in ["fail_after", "tau"] {
            let time = json!({ "$ref": "#/$defs/Time", "description": config["properties"][key]["description"] });
            config["properties"][key] = time;
        }
        config["required"].as_array_mut().unwrap().push("fail_after".into());
    }
    schema
}

/// `HEDDLE_WRITE_P4_SCHEMA=1 cargo test -p heddle-emulation --lib p4_schema` writes the file.
#[test]
fn the_control_planes_p4_schema_is_the_documents() {
    let path = PathBuf::from(P4).join("control/heddle_p4/switch.schema.json");
    let text = format!("{:#}\n", schema());
    if std::env::var_os("HEDDLE_WRITE_P4_SCHEMA").is_some_and(|value| value == "1") {
        fs::write(&path, &text).unwrap();
    }
    let help = "is not up to date: HEDDLE_WRITE_P4_SCHEMA=1 cargo test -p heddle-emulation --lib p4_schema";
    assert!(fs::read_to_string(&path).unwrap() == text, "{} {help}", path.display());
}

#[test]
fn the_schemes_with_a_p4_program_are_those_of_the_list() {
    let schema = schema();
    let choices = schema["oneOf"].as_array().unwrap();
    let documented: Vec<&str> = choices
        .iter()
        .map(|choice| choice["properties"]["scheme"]["const"].as_str().unwrap())
        .collect();
    assert_eq!(documented, Scheme::IN_P4, "the document's schemes");
    let mut programs: Vec<String> = fs::read_dir(P4)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| PathBuf::from(P4).join(name).join(name.replace('-', "_") + ".p4").is_file())
        .collect();
    programs.sort();
    let mut listed = Scheme::IN_P4;
    listed.sort_unstable();
    assert_eq!(programs, listed, "folders of p4 with a program");
}
