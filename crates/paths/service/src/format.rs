//! Enumerated values as strings in JSON: `REASON_DIGIT_TOO_HIGH` of `Reason` is `"digit-too-high"`.

/// Serde's two functions for a field that holds the number of a value of `$type`, whose names begin
/// with `$prefix`.
macro_rules! enum_format {
    ($module:ident, $type:ident, $prefix:literal) => {
        pub mod $module {
            use serde::de::{Deserialize, Deserializer, Error};
            use serde::ser::Serializer;

            use crate::v1::$type;

            pub fn serialize<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
                let name = $type::try_from(*value).unwrap_or_default().as_str_name();
                to.serialize_str(&super::to_json(name, $prefix))
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
                let text = String::deserialize(from)?;
                let value = $type::from_str_name(&super::from_json(&text, $prefix));
                let unknown =
                    || D::Error::custom(format_args!("unknown {} `{text}`", stringify!($module)));
                value.map(i32::from).ok_or_else(unknown)
            }
        }
    };
}

enum_format!(family, Family, "FAMILY_");
enum_format!(link_state, LinkState, "LINK_STATE_");
enum_format!(reason, Reason, "REASON_");
enum_format!(outcome, Outcome, "OUTCOME_");
enum_format!(link_impact, LinkImpact, "LINK_IMPACT_");

/// `REASON_NO_FIELD` to `no-field`.
pub(crate) fn to_json(name: &str, prefix: &str) -> String {
    name.trim_start_matches(prefix).to_ascii_lowercase().replace('_', "-")
}

/// `no-field` to `REASON_NO_FIELD`.
fn from_json(text: &str, prefix: &str) -> String {
    format!("{prefix}{}", text.to_ascii_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use crate::v1::{Family, Hop, Reason, SetLinkRequest};

    #[test]
    fn values_are_written_as_strings_and_read_back() {
        let hop = Hop { reason: Reason::DigitTooHigh.into(), ..Hop::default() };
        let json = serde_json::to_value(&hop).unwrap();
        assert_eq!(json["reason"], "digit-too-high");
        assert_eq!(serde_json::from_value::<Hop>(json).unwrap(), hop);
        assert_eq!(super::from_json("ipv6", "FAMILY_"), Family::Ipv6.as_str_name());
    }

    #[test]
    fn unknown_values_and_keys_are_rejected() {
        let error =
            |json: &str| serde_json::from_str::<SetLinkRequest>(json).unwrap_err().to_string();
        assert!(error(r#"{"state": "sideways"}"#).starts_with("unknown link_state `sideways`"));
        assert!(error(r#"{"sate": "down"}"#).starts_with("unknown field `sate`"));
    }
}
