//! The networks of fabric files.

use std::path::PathBuf;

use heddle_path_encoder::{Key, Network, PathEncoderError};
use heddle_program::Failure;
use heddle_scenario::FabricFile;

use crate::{KeyedFabricArgs, files, keys};

/// The network with its key.
///
/// # Errors
/// If the key file cannot be used, or its key is not the network's.
pub fn with_key(args: &KeyedFabricArgs, file: &FabricFile) -> Result<Network, Failure> {
    let path = key_file(args, file)?;
    let key = keys::read(&path, file.cflb.constants.cipher)?;
    Network::from_file(file, &key).map_err(|error| refused(args, error))
}

/// The network with an arbitrary key, for requests that do not concern header fields.
///
/// # Errors
/// If the fabric file describes no network.
pub fn without_key(file: &FabricFile) -> Result<Network, Failure> {
    let cipher = file.cflb.constants.cipher;
    let key = Key::parse(&"0".repeat(2 * cipher.key_bytes()), cipher);
    let mut file = file.clone();
    file.cflb.key_check = None;
    Ok(Network::from_file(&file, &key?)?)
}

/// The file of the key: the one that is given, or the one that the fabric file names from its own
/// folder.
fn key_file(args: &KeyedFabricArgs, file: &FabricFile) -> Result<PathBuf, Failure> {
    let named = || Some(files::folder(&args.fabric.fabric).join(file.cflb.key_file.as_ref()?));
    args.key_file.clone().or_else(named).ok_or_else(|| {
        Failure::advised(
            format!("{} names no key file", args.fabric.fabric.display()),
            "give one with --key-file or as key_file in [cflb]; heddle path keygen fabric.key makes a new one",
        )
    })
}

fn refused(args: &KeyedFabricArgs, error: PathEncoderError) -> Failure {
    match &error {
        PathEncoderError::WrongKey { given, .. } => Failure::advised(
            error.to_string(),
            format!(
                "give the right key with --key-file; if the network's key was changed, write key_check = \"{given}\" into {}",
                args.fabric.fabric.display()
            ),
        ),
        _ => anyhow::Error::new(error).context(args.fabric.fabric.display().to_string()).into(),
    }
}
