//! Tokens in JSON: hexadecimal with `0x` in front, as `heddle lb explain --join` and
//! `heddle lb connections --token` take them.

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer, Serializer};

/// `"0x1c2d3e4f"`, or null.
#[allow(clippy::ref_option, reason = "serde's signature")]
pub fn serialize<S: Serializer>(token: &Option<u32>, to: S) -> Result<S::Ok, S::Error> {
    match token {
        Some(token) => to.serialize_some(&format_args!("{token:#010x}")),
        None => to.serialize_none(),
    }
}

/// With or without `0x`.
pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let Some(text) = Option::<String>::deserialize(from)? else { return Ok(None) };
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    let token = u32::from_str_radix(digits, 16);
    token.map(Some).map_err(|_| D::Error::custom(format!("{text} is no token: as in 0x1c2d3e4f")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json, to_value};

    use crate::{Connection, Filter};

    #[test]
    fn a_token_is_written_as_explain_reads_it() {
        let flow = |token: Value| {
            json!({ "client": "198.51.100.7:4000", "service": "web", "backend": "be1", "token": token,
                "state": "established", "idle": 0.0 })
        };
        for (written, token) in [(json!("0x0c2d3e4f"), Some(0x0c2d_3e4f)), (Value::Null, None)] {
            let connection: Connection = from_value(flow(written.clone())).unwrap();
            assert_eq!(connection.token, token);
            assert_eq!(to_value(connection).unwrap()["token"], written);
        }
    }

    #[test]
    fn a_filter_may_leave_it_out_and_refuses_what_is_none() {
        assert_eq!(from_value::<Filter>(json!({})).unwrap(), Filter::default());
        assert_eq!(from_value::<Filter>(json!({ "token": "1f" })).unwrap().token, Some(0x1f));
        let wrong = from_value::<Filter>(json!({ "token": "0xyz" })).unwrap_err();
        assert!(wrong.to_string().contains("0xyz is no token"), "{wrong}");
    }
}
