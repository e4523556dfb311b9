//! Enumerated values as words in JSON: `DIGIT_TOO_HIGH` of `Reason` is `"digit-too-high"`.

/// Serde's two functions for a field that holds the number of a value of `$type`, whose names begin with `$prefix`.
macro_rules! words {
    ($module:ident, $type:ident, $prefix:literal) => {
        pub mod $module {
            use serde::de::{Deserialize, Deserializer, Error};
            use serde::ser::Serializer;

            use crate::v1::$type;

            pub fn serialize<S: Serializer>(value: &i32, to: S) -> Result<S::Ok, S::Error> {
                let name = $type::try_from(*value).unwrap_or_default().as_str_name();
                to.serialize_str(&super::word(name, $prefix))
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<i32, D::Error> {
                let word = String::deserialize(from)?;
                let value = $type::from_str_name(&super::name(&word, $prefix));
                let unknown =
                    || D::Error::custom(format_args!("unknown {} `{word}`", stringify!($module)));
                value.map(i32::from).ok_or_else(unknown)
            }
        }
    };
}

words!(family, Family, "FAMILY_");
words!(link_state, LinkState, "LINK_STATE_");
words!(reason, Reason, "REASON_");
words!(end, End, "END_");
words!(damage, Damage, "DAMAGE_");

fn word(name: &str, prefix: &str) -> String {
    name.trim_start_matches(prefix).to_ascii_lowercase().replace('_', "-")
}

fn name(word: &str, prefix: &str) -> String {
    format!("{prefix}{}", word.to_ascii_uppercase().replace('-', "_"))
}

#[cfg(test)]
mod tests {
    use crate::v1::{Family, Hop, Reason, SetLinkRequest};

    #[test]
    fn values_are_words_and_back() {
        let hop = Hop { reason: Reason::DigitTooHigh.into(), ..Hop::default() };
        let json = serde_json::to_value(&hop).unwrap();
        assert_eq!(json["reason"], "digit-too-high");
        assert_eq!(serde_json::from_value::<Hop>(json).unwrap(), hop);
        assert_eq!(super::name("ipv6", "FAMILY_"), Family::Ipv6.as_str_name());
    }

    #[test]
    fn unknown_words_and_keys_are_refused() {
        let error =
            |json: &str| serde_json::from_str::<SetLinkRequest>(json).unwrap_err().to_string();
        assert!(error(r#"{"state": "sideways"}"#).starts_with("unknown link_state `sideways`"));
        assert!(error(r#"{"sate": "down"}"#).starts_with("unknown field `sate`"));
    }
}
