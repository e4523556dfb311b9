//! `heddle lb backend`.

use std::net::IpAddr;

use clap::{Args, Subcommand};

use super::{name, number};

#[derive(Args, Debug)]
pub(crate) struct Backend {
    #[command(subcommand)]
    pub(crate) command: BackendCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BackendCommand {
    /// Add a backend to services, without the configuration file.
    Add(Add),
    /// Remove a backend from services, without the configuration file.
    Remove(Remove),
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb backend add be4 web=10.0.1.4               new connections once it is healthy
  heddle lb backend add be4 w4=10.0.1.4 w6=fd00::4     all services of a group at once
  heddle lb backend add be4 web=10.0.1.4 --drain       on all balancers first, and then:
  heddle lb drain be4 --undo                           new connections
  heddle lb backend add be4 web=10.0.1.4 --all         on all balancers, by way of etcd

Without --all it lasts until the next reload or restart reads the file: put it there, too. Add it on
each balancer.")]
pub(crate) struct Add {
    /// The backend's name.
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// A service, and the backend's address in it. Can be repeated.
    #[arg(value_name = "SERVICE=ADDRESS", required = true, value_parser = place)]
    pub(crate) places: Vec<(String, IpAddr)>,
    /// Its share of new connections, relative to the others'; 1000 at most; 0: none.
    #[arg(long, value_name = "WEIGHT", default_value_t = 1, value_parser = number(0..=1000_u32))]
    pub(crate) weight: u32,
    /// Begin without new connections; `heddle lb drain NAME --undo` gives it some.
    #[arg(long)]
    pub(crate) drain: bool,
    /// New connections only while no other backend of the service is up.
    #[arg(long)]
    pub(crate) sorry: bool,
    /// The address at which clients join its connections (`mptcp = "c-flag"`).
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) join_address: Option<IpAddr>,
    /// Its name in connection ids of QUIC, in hexadecimal (`quic` of the service).
    #[arg(long, value_name = "ID")]
    pub(crate) server_id: Option<String>,
    /// The number that steering headers know it by. Default: made of its address and its service.
    #[arg(long, value_name = "ID", value_parser = number(1..=u32::MAX))]
    pub(crate) id: Option<u32>,
    /// On all balancers that share an etcd cluster, until `heddle lb changes reset`.
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  heddle lb drain be1 --wait              until its last connection has ended
  heddle lb backend remove be1            from all services that have it
  heddle lb backend remove be1 --service web
  heddle lb backend remove be1 --all      on all balancers, by way of etcd

Connections that it still has continue until they end; nothing begins there, no join either. Without
--all it lasts until the next reload or restart reads the file: take it out there, too. Remove it on
each balancer.")]
pub(crate) struct Remove {
    /// The backend's name.
    #[arg(value_name = "NAME", value_parser = name)]
    pub(crate) name: String,
    /// Only from this service.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub(crate) service: Option<String>,
    /// On all balancers that share an etcd cluster, until `heddle lb changes reset`.
    #[arg(long)]
    pub(crate) all: bool,
}

/// `SERVICE=ADDRESS`; the last `=` divides.
fn place(text: &str) -> Result<(String, IpAddr), String> {
    let named = text.rsplit_once('=').filter(|(service, _)| !service.is_empty());
    let Some((service, address)) = named else {
        return Err("give a service and an address: web=10.0.1.4".into());
    };
    let parsed = address.parse();
    Ok((service.to_owned(), parsed.map_err(|_| format!("{address} is not an IP address"))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_service_and_an_address() {
        let six: IpAddr = "2001:db8::4".parse().unwrap();
        assert_eq!(place("web=10.0.1.4"), Ok(("web".into(), [10, 0, 1, 4].into())));
        assert_eq!(place("a=b=2001:db8::4"), Ok(("a=b".into(), six)));
        for nameless in ["10.0.1.4", "=10.0.1.4"] {
            assert!(place(nameless).unwrap_err().contains("web=10.0.1.4"), "{nameless}");
        }
        assert_eq!(place("web=10.0.1.300").unwrap_err(), "10.0.1.300 is not an IP address");
    }
}
