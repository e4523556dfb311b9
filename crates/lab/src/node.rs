//! One host of a lab: a network namespace, its addresses, and ways to run things in it.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::LabError;
use crate::{names, tools};

/// An Ethernet address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mac(pub [u8; 6]);

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

/// One host of a lab.
#[derive(Clone, Debug)]
pub struct Node {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
    pub(crate) mac: Mac,
}

impl Node {
    /// Its name in the lab: `client`, `router`, `balancer-0`, `backend-0`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its namespace's file: what `nsenter --net=` takes.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        names::path(&self.namespace)
    }

    /// Its address in the segment of balancers and backends; of the client: its first one.
    #[must_use]
    pub fn v4(&self) -> Ipv4Addr {
        self.v4
    }

    /// As [`Node::v4`].
    #[must_use]
    pub fn v6(&self) -> Ipv6Addr {
        self.v6
    }

    /// The Ethernet address of `eth0`; of the router: of `lan`.
    #[must_use]
    pub fn mac(&self) -> Mac {
        self.mac
    }

    /// The address of the family that `like` is of.
    #[must_use]
    pub fn address_like(&self, like: IpAddr) -> IpAddr {
        if like.is_ipv4() { self.v4.into() } else { self.v6.into() }
    }

    /// A program to be run on this host. Dropping the lab kills the programs that still run.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("nsenter");
        command.arg(self.namespace_argument()).arg(program);
        command
    }

    /// Runs a program on this host to its end, and returns its output. `line` is split at spaces.
    ///
    /// # Errors
    /// If it fails, or takes more than ten minutes.
    pub fn run(&self, line: &str) -> Result<String, LabError> {
        let namespace = self.namespace_argument();
        tools::run("nsenter", [namespace.as_str()].into_iter().chain(line.split_whitespace()), "")
    }

    /// Runs lines of `ip` on this host.
    pub(crate) fn ip(&self, lines: &str) -> Result<(), LabError> {
        tools::run("ip", ["-n", &self.namespace, "-batch", "-"], lines).map(drop)
    }

    fn namespace_argument(&self) -> String {
        format!("--net={}", self.path().display())
    }

    /// Calls `action` on a thread that is on this host: sockets that it makes, and threads that it
    /// starts, are this host's.
    ///
    /// # Errors
    /// If the namespace cannot be entered.
    ///
    /// # Panics
    /// If `action` does.
    pub fn enter<T: Send>(&self, action: impl FnOnce() -> T + Send) -> Result<T, LabError> {
        enter(&self.path(), action)
    }
}

/// Calls `action` on a thread that is in the network namespace of this file: sockets that it makes,
/// and threads that it starts, are in it.
///
/// # Errors
/// If the namespace cannot be entered.
///
/// # Panics
/// If `action` does.
pub fn enter<T: Send>(namespace: &Path, action: impl FnOnce() -> T + Send) -> Result<T, LabError> {
    let what = || format!("entering {}", namespace.display());
    let file = File::open(namespace).map_err(LabError::system(what()))?;
    let entered = thread::scope(|scope| {
        let thread = scope.spawn(|| {
            move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))
                .map(|()| action())
        });
        thread.join()
    });
    match entered {
        Ok(result) => result.map_err(|errno| LabError::system(what())(errno.into())),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}
