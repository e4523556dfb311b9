//! The balancers of the cluster, and messages between them.

use std::net::IpAddr;
use std::path::PathBuf;

use heddle_config::Duration;
use schemars::JsonSchema;
use serde::Deserialize;

/// A balancer of the cluster.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Member {
    /// Its name.
    pub(in crate::config) name: String,
    /// The address at which the others reach it; the same in the files of all balancers.
    pub(in crate::config) address: IpAddr,
    /// The number that steering headers know it by. Default: made of its address.
    pub(in crate::config) id: Option<u32>,
}

/// Discovery of the other balancers.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Membership {
    /// An etcd cluster.
    pub(in crate::config) etcd: Etcd,
}

/// An etcd cluster.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Etcd {
    /// URLs of its members, as in `https://10.0.0.5:2379`; tried in turn. All `https`, or all
    /// `http`.
    pub(in crate::config) endpoints: Vec<String>,
    /// Prefix of the keys of this cluster of balancers. Default: /heddle/balancers.
    #[serde(default = "prefix")]
    pub(in crate::config) prefix: String,
    /// Time after which a balancer that does not answer counts as dead; at least 2 seconds.
    /// Default: 5s.
    #[serde(default = "lease")]
    pub(in crate::config) lease: Duration,
    /// PEM file with the certificates of the authorities that sign etcd's; needed with `https`.
    /// Read anew for each connection, as the other files are.
    pub(in crate::config) ca_file: Option<PathBuf>,
    /// PEM file with this balancer's certificate, for etcd's `--client-cert-auth`. Default: none.
    pub(in crate::config) certificate_file: Option<PathBuf>,
    /// PEM file with the certificate's private key, which only its owner may read.
    pub(in crate::config) key_file: Option<PathBuf>,
    /// The user of etcd that this balancer is; needs `https`. Default: none.
    pub(in crate::config) user: Option<String>,
    /// A file with the user's password, which only its owner may read.
    pub(in crate::config) password_file: Option<PathBuf>,
}

fn prefix() -> String {
    "/heddle/balancers".into()
}

fn lease() -> Duration {
    Duration::from_secs(5)
}

/// Messages between balancers. The same on all of them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::config) struct Steering {
    /// UDP port of the balancers' own addresses. Default: 7077.
    #[serde(default = "port")]
    pub(in crate::config) port: u16,
    /// A file with the cluster's secret, which only its owner may read: 16 bytes or more, the same
    /// on all balancers.
    pub(in crate::config) secret_file: PathBuf,
    /// At most one file with another secret whose messages are accepted, too: the next one or the
    /// last one, while the secret is changed. Default: none.
    #[serde(default)]
    pub(in crate::config) accepted_secret_files: Vec<PathBuf>,
    /// A file with the secret that the hash of flows is made of, which must stay the same as long
    /// as there are connections, on all balancers. Default: `secret_file`.
    pub(in crate::config) seed_file: Option<PathBuf>,
}

fn port() -> u16 {
    7077
}
