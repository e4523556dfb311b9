//! Connection ids of QUIC that name backends.

use heddle_config::Problem;
use heddle_wire::quic::{MOST_ROTATION, MOST_SERVER_ID, ServerIds};

use super::super::raw;
use super::super::resolved::Service;
use crate::hex;
use crate::service::Protocol;

/// The form of a service's connection ids, if they are looked at.
pub(super) fn server_ids(service: &raw::Service) -> Result<Option<ServerIds>, Problem> {
    let Some(raw::Quic { config_rotation, server_id_length }) = service.quic else {
        return Ok(None);
    };
    if service.protocol != Protocol::Udp {
        return Err(Problem::at("quic", "QUIC runs over UDP").help("protocol = \"udp\""));
    }
    if config_rotation > MOST_ROTATION {
        let message = format!("{config_rotation} names no configuration");
        let help = format!("0 to {MOST_ROTATION}; 7 says that a connection id names no server");
        return Err(Problem::at("quic.config_rotation", message).help(help));
    }
    let Some(ids) = ServerIds::new(config_rotation, server_id_length) else {
        let message = format!("{server_id_length} is no length of a server id");
        let help = format!("1 to {MOST_SERVER_ID} bytes");
        return Err(Problem::at("quic.server_id_length", message).help(help));
    };
    Ok(Some(ids))
}

/// A backend's server id, which no other one of the service has.
pub(super) fn server_id(
    backend: &raw::Backend,
    service: &Service,
) -> Result<Option<Vec<u8>>, Problem> {
    let (ids, text) = match (service.quic, &backend.server_id) {
        (None, None) => return Ok(None),
        (None, Some(_)) => {
            let problem = Problem::at("server_id", "only a service with `quic` uses it");
            return Err(problem.help("quic = { server_id_length = 2 } in the service"));
        }
        (Some(ids), None) => {
            let example = hex::text(&vec![1; ids.length().into()]);
            let problem = Problem::new("`server_id` is missing: the service has `quic`");
            return Err(problem.help(format!("server_id = \"{example}\", as its server has it")));
        }
        (Some(ids), Some(text)) => (ids, text),
    };
    let length = usize::from(ids.length());
    let Some(id) = hex::bytes(text).filter(|id| id.len() == length) else {
        let message = format!("`{text}` is no server id of {length} bytes");
        let help = format!("{} hexadecimal digits, as `quic.server_id_length` says", 2 * length);
        return Err(Problem::at("server_id", message).help(help));
    };
    match service.backends.iter().find(|other| other.server_id.as_ref() == Some(&id)) {
        Some(other) => {
            let message = format!("{text} is backend `{}`'s server id already", other.name);
            Err(Problem::at("server_id", message)
                .help("another one, for this backend's server, too"))
        }
        None => Ok(Some(id)),
    }
}
