//! How quantities look in the JSON Schema.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

macro_rules! quantity {
    ($name:ident, $schema_name:literal, $description:literal, $units:literal, $example:literal) => {
        pub(crate) struct $name;
        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                $schema_name.into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": concat!("^ *[0-9]+(\\.[0-9]*)? *(", $units, ") *$"),
                    "examples": [$example],
                })
            }
        }
    };
}

quantity!(TimeText, "Time", "A time with its unit.", "s|ms|us|ns|ps", "100us");
quantity!(RateText, "Rate", "A rate with its unit.", "Tbps|Gbps|Mbps|Kbps|bps", "40Gbps");
quantity!(
    BytesText,
    "Size",
    "A size with its unit: KB, MB and GB are decimal, KiB, MiB and GiB binary.",
    "GB|MB|KB|B|GiB|MiB|KiB",
    "1.5MB"
);
