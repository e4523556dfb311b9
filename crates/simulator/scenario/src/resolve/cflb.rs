//! CFLB's constants, against the fabric: `[scheme]` with `kind = "cflb"`, and what `[cflb]` of a fabric file shares with it.

use heddle_config::Problem;

use super::ranges::{Kind, range};
use crate::graph::most_next_hops;
use crate::{Cflb, CflbCipher, CflbConstants, CflbField, CflbRules, Graph, Placing, raw};

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
    let placing = match raw.steering.placing {
        raw::Placing::FewestFlows => Placing::FewestFlows,
        raw::Placing::FirstFit => Placing::FirstFit,
    };
    Ok(Cflb { constants, elephants: raw.steering.elephants, placing })
}

/// Checks that the cipher fits the field, that a selector has a digit, and that a digit can name every next hop.
pub(super) fn constants(raw: &raw::CflbConstants, graph: &Graph) -> Result<CflbConstants, Problem> {
    let field = field(raw)?;
    let rules = match raw.rules {
        raw::CflbRules::Even => CflbRules::Even,
        raw::CflbRules::AsPublished => CflbRules::AsPublished,
    };
    Ok(CflbConstants {
        field,
        cipher: cipher(raw.cipher, field)?,
        radix: radix(raw, field, graph)?,
        rules,
    })
}

fn field(raw: &raw::CflbConstants) -> Result<CflbField, Problem> {
    match (raw.field, &raw.source_ports) {
        (raw::CflbField::SourcePort, None) => Ok(CflbField::SourcePort { low: 0, high: u16::MAX }),
        (raw::CflbField::SourcePort, Some(text)) => {
            let (low, high) =
                range(text, Kind::Ports).map_err(|problem| problem.inside("source_ports"))?;
            Ok(CflbField::SourcePort { low, high })
        }
        (_, Some(_)) => {
            Err(Problem::at("source_ports", "the source port alone does not name the path")
                .help("field = \"source-port\""))
        }
        (raw::CflbField::Ports, None) => Ok(CflbField::Ports),
        (raw::CflbField::FlowLabel, None) => Ok(CflbField::FlowLabel),
    }
}

fn cipher(given: Option<raw::CflbCipher>, field: CflbField) -> Result<CflbCipher, Problem> {
    let cipher = match given {
        None if field == CflbField::Ports => CflbCipher::Rc5,
        None | Some(raw::CflbCipher::Feistel) => CflbCipher::Feistel,
        Some(raw::CflbCipher::Rc5) => CflbCipher::Rc5,
        Some(raw::CflbCipher::Skip32) => CflbCipher::Skip32,
    };
    if field == CflbField::Ports || cipher == CflbCipher::Feistel {
        return Ok(cipher);
    }
    let message = "this cipher has blocks of 32 bits, the field is smaller";
    Err(Problem::at("cipher", message).help("\"feistel\", or `field = \"ports\"`"))
}

fn radix(raw: &raw::CflbConstants, field: CflbField, graph: &Graph) -> Result<u16, Problem> {
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
    let values = values(field);
    if u64::from(radix) > values {
        return problem(format!("a field of {values} values has no digit in base {radix}"))
            .map_err(|problem| problem.help("a smaller radix, or a wider field"));
    }
    Ok(radix)
}

/// Number of values of a field.
fn values(field: CflbField) -> u64 {
    match field {
        CflbField::Ports => 1 << 32,
        CflbField::SourcePort { low, high } => u64::from(high - low) + 1,
        CflbField::FlowLabel => 1 << 20,
    }
}
