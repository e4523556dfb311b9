//! `heddle lb services`.

use std::path::Path;

use heddle_program::{
    Common, Failure, output,
    table::{self, Table},
};
use heddled::admin::{Reply, Request, ServiceStatus};

use crate::daemon::{Daemon, unexpected};
use crate::format;

pub(crate) fn services(socket: &Path, common: &Common) -> Result<(), Failure> {
    let services = match Daemon::connect(socket)?.ask(&Request::Services)? {
        Reply::Services(services) => services.services,
        other => return Err(unexpected(&other)),
    };
    match common.json {
        true => output::json(&services),
        false => output::line(table_of(&services)),
    }
}

fn table_of(services: &[ServiceStatus]) -> Table {
    let header = ["service", "address", "ports", "mptcp", "forwarding", "group", "backends"];
    let mut table = table::of_words(&header);
    for service in services {
        table.add_row([
            service.name.clone(),
            service.address.to_string(),
            format!("{} {}", service.ports, service.protocol),
            service.mptcp.to_string(),
            format::forwarding(service.forwarding).to_owned(),
            service.group.clone().unwrap_or_else(|| "-".into()),
            format::backends(service.backends_up, service.backends_unchecked, service.backends),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use heddled::config::Forwarding;
    use heddled::service::{MptcpMode, Protocol};

    use super::*;

    #[test]
    fn a_service_is_a_row() {
        let web = ServiceStatus {
            name: "web".into(),
            address: [192, 0, 2, 10].into(),
            ports: "8000-8099".into(),
            protocol: Protocol::Tcp,
            mptcp: MptcpMode::SourceIp,
            forwarding: Forwarding::Ipip,
            group: None,
            backends_up: 1,
            backends_unchecked: 0,
            backends: 2,
        };
        insta::assert_snapshot!(table_of(&[web]), @r"
        ┌─────────┬────────────┬───────────────┬───────────┬────────────┬───────┬───────────┐
        │ service ┆ address    ┆ ports         ┆ mptcp     ┆ forwarding ┆ group ┆ backends  │
        ╞═════════╪════════════╪═══════════════╪═══════════╪════════════╪═══════╪═══════════╡
        │ web     ┆ 192.0.2.10 ┆ 8000-8099 TCP ┆ source-ip ┆ ipip       ┆ -     ┆ 1 of 2 up │
        └─────────┴────────────┴───────────────┴───────────┴────────────┴───────┴───────────┘
        ");
    }
}
