//! CFLB's constants, against the fabric: `[scheme]` with `kind = "cflb"`, and what `[cflb]` of a
//! fabric file shares with it.

use heddle_config::Problem;
use heddle_policy::cflb::{CflbConfig, Cipher, Field, PortRange};

use super::ranges::{Kind, range};
use crate::graph::most_next_hops;
use crate::{Cflb, Graph, raw};

/// The least radix: with base 1 there is nothing to write.
const LEAST_RADIX: u16 = 2;

/// CFLB in a simulation.
pub(super) fn scheme(raw: &raw::Cflb, graph: &Graph) -> Result<Cflb, Problem> {
    if raw.constants.field == raw::CflbField::FlowLabel {
        return Err(Problem::at(
            "field",
            "the simulator's packets are IPv4 and have no flow label",
        )
        .help("\"ports\" or \"source-port\"; fabric files may name paths by the flow label"));
    }
    let constants = constants(&raw.constants, graph)?;
    let raw::Steering { elephants, placing } = raw.steering;
    Ok(Cflb { constants, elephants, placing })
}

/// Checks that the cipher fits the field, that a selector has a digit, and that a digit can name
/// every next hop.
pub(super) fn constants(raw: &raw::CflbConstants, graph: &Graph) -> Result<CflbConfig, Problem> {
    let field = field(raw)?;
    let (cipher, radix) = (cipher(raw.cipher, field)?, radix(raw, field, graph)?);
    Ok(CflbConfig { field, cipher, radix, rules: raw.rules })
}

fn field(raw: &raw::CflbConstants) -> Result<Field, Problem> {
    match (raw.field, &raw.source_ports) {
        (raw::CflbField::SourcePort, None) => Ok(Field::SourcePort(PortRange::ALL)),
        (raw::CflbField::SourcePort, Some(text)) => {
            let (low, high) =
                range(text, Kind::Ports).map_err(|problem| problem.inside("source_ports"))?;
            Ok(Field::SourcePort(PortRange { low, high }))
        }
        (_, Some(_)) => {
            Err(Problem::at("source_ports", "the source port alone does not name the path")
                .help("field = \"source-port\""))
        }
        (raw::CflbField::Ports, None) => Ok(Field::Ports),
        (raw::CflbField::FlowLabel, None) => Ok(Field::FlowLabel),
    }
}

fn cipher(given: Option<Cipher>, field: Field) -> Result<Cipher, Problem> {
    let default = if field == Field::Ports { Cipher::Rc5 } else { Cipher::Feistel };
    let cipher = given.unwrap_or(default);
    if field == Field::Ports || cipher == Cipher::Feistel {
        return Ok(cipher);
    }
    let message = "this cipher has blocks of 32 bits, the field is smaller";
    Err(Problem::at("cipher", message).help("\"feistel\", or `field = \"ports\"`"))
}

fn radix(raw: &raw::CflbConstants, field: Field, graph: &Graph) -> Result<u16, Problem> {
    let most = u16::try_from(most_next_hops(graph)).unwrap_or(u16::MAX);
    let radix = raw.radix.unwrap_or(most.max(LEAST_RADIX));
    let problem = |message: String| Err(Problem::at("radix", message));
    if radix < LEAST_RADIX {
        return problem(format!("{radix} is no base"))
            .map_err(|problem| problem.help(format!("from {LEAST_RADIX} up")));
    }
    if radix < most {
        return problem(format!("a radix of {radix} is below a router's next hops, {most}"))
            .map_err(|problem| problem.help(format!("{most} or more")));
    }
    let values = field.values();
    if u64::from(radix) > values {
        return problem(format!("a field of {values} values has no digit in base {radix}"))
            .map_err(|problem| problem.help("a smaller radix, or a wider field"));
    }
    Ok(radix)
}
