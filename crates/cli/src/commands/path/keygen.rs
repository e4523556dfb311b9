//! `heddle path keygen`: a new key.

use heddle_policy::cflb::Cipher;
use serde_json::json;

use crate::args::Common;
use crate::args::path::Keygen;
use crate::failure::Failure;
use crate::output;
use heddle_path_files::keys;

pub(crate) fn keygen(args: &Keygen, common: &Common) -> Result<(), Failure> {
    let cipher = Cipher::from(args.cipher);
    let check_value = keys::create(&args.file, cipher)?.check_value();
    let name = args.file.display().to_string();
    if common.json {
        return output::json(&json!({ "key_file": name, "key_check": check_value }));
    }
    if !common.quiet {
        let bits = 8 * cipher.key_bytes();
        eprintln!("wrote {name}: {bits} bits, mode 600. For [cflb] of a fabric file beside it:");
    }
    let beside = args.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    output::line(format_args!("key_file = {}", toml::Value::from(beside)))?;
    output::line(format_args!("key_check = \"{check_value}\""))
}
