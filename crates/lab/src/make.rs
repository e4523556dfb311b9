//! Set-up of a lab, in a few batches of `ip`.

use std::fs;
use std::io::Write;

use heddle_units::Rate;
use tempfile::NamedTempFile;

use crate::layout::{self, Role};
use crate::{Builder, Lab, LabError, NextHop, Node, names, tools};

/// The object of `bpf/tools/pass.bpf.c`.
const PASS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/pass.o"));

impl Builder {
    /// Makes the lab, after removing what is left of labs whose process is gone.
    ///
    /// # Errors
    /// Without root, a program or MPTCP; for sizes out of range; or if the kernel refuses a step.
    pub fn build(self) -> Result<Lab, LabError> {
        self.check_sizes()?;
        if !rustix::process::geteuid().is_root() {
            return Err(LabError::NotRoot);
        }
        tools::require(tools::FOR_LABS)?;
        let enabled = fs::read_to_string("/proc/sys/net/mptcp/enabled").unwrap_or_default();
        if enabled.trim() != "1" {
            return Err(LabError::NoMptcp);
        }
        names::remove_orphans()?;
        // Dropping the lab after an error undoes the steps so far.
        let lab = Lab::new(self)?;
        lab.set_up()?;
        Ok(lab)
    }
}

impl Lab {
    fn set_up(&self) -> Result<(), LabError> {
        self.add_namespaces()?;
        self.add_links()?;
        self.set_up_hosts()?;
        self.set_offloads()?;
        self.add_pass_programs(self.ports())?;
        self.set_rates()?;
        let all: Vec<NextHop> = (0..self.balancers().len()).map(NextHop::Balancer).collect();
        self.route_vip(&all)
    }

    /// Adds namespaces, and sets their settings before links take the defaults over.
    fn add_namespaces(&self) -> Result<(), LabError> {
        let add = |(_, node): (Role, &Node)| format!("netns add {}\n", node.namespace);
        let lines: String = self.nodes().map(add).collect();
        tools::run("ip", ["-batch", "-"], &lines)?;
        for (role, node) in self.nodes() {
            let settings: Vec<&str> = role.settings().collect();
            node.run(&format!("sysctl -q -w {}", settings.join(" ")))?;
        }
        Ok(())
    }

    fn add_links(&self) -> Result<(), LabError> {
        let mut lines: String = (0..self.links())
            .map(|link| {
                let (device, port) = (format!("eth{link}"), format!("c{link}"));
                let mac = layout::client_mac(link);
                layout::link(self.client(), &device, mac, self.router(), &port, 1500)
            })
            .collect();
        for (node, port) in self.ports() {
            let mtu = self.settings.lan_mtu;
            lines += &layout::link(node, "eth0", node.mac, self.router(), &port, mtu);
        }
        tools::run("ip", ["-batch", "-"], &lines).map(drop)
    }

    fn set_up_hosts(&self) -> Result<(), LabError> {
        let links = self.links();
        self.client().ip(&layout::client_lines(links))?;
        let mtu = self.settings.lan_mtu;
        self.router().ip(&layout::router_lines(self.router(), links, self.ports(), mtu))?;
        self.set_forwarding(self.ports())?;
        for (role, node) in self.nodes() {
            match role {
                Role::Client | Role::Router => {}
                Role::Balancer => node.ip(&layout::lan_lines(node, self.router()))?,
                Role::Backend => {
                    node.ip(&layout::lan_lines(node, self.router()))?;
                    node.ip(&layout::backend_lines(&self.settings))?;
                }
            }
        }
        Ok(())
    }

    /// Closes the further subflows of all of the client's connections, and lets the kernel open
    /// others.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn renew_joins(&self) -> Result<(), LabError> {
        self.client().run("ip mptcp endpoint flush")?;
        let endpoints: String = (1..self.links()).map(layout::endpoint_lines).collect();
        self.client().ip(&endpoints)
    }

    fn set_forwarding<'a>(
        &self,
        ports: impl Iterator<Item = (&'a Node, String)>,
    ) -> Result<(), LabError> {
        let lines = layout::forwarding_lines(ports);
        tools::run("bridge", ["-n", &self.router().namespace, "-batch", "-"], &lines).map(drop)
    }

    /// Removes the link of a balancer or a backend, both ends of it, as if its machine had lost
    /// power. What is attached to the link goes with it; programs on the host go on.
    ///
    /// # Errors
    /// If it is gone already.
    pub fn remove_link(&self, node: &Node) -> Result<(), LabError> {
        match self.port_of(node) {
            Some(port) => self.router().ip(&format!("link delete {port}\n")),
            None => Ok(()),
        }
    }

    /// Makes the link of a balancer or a backend again, with its addresses and routes, after
    /// [`Lab::remove_link`].
    ///
    /// # Errors
    /// If the kernel refuses a step.
    pub fn add_link(&self, node: &Node) -> Result<(), LabError> {
        let Some(port) = self.port_of(node) else { return Ok(()) };
        let mtu = self.settings.lan_mtu;
        let link = layout::link(node, "eth0", node.mac, self.router(), &port, mtu);
        tools::run("ip", ["-batch", "-"], &link)?;
        self.router().ip(&layout::port_lines(&port))?;
        self.set_forwarding([(node, port.clone())].into_iter())?;
        node.ip(&layout::lan_lines(node, self.router()))?;
        self.set_port_offloads(node, &port)?;
        self.add_pass_programs([(node, port)].into_iter())
    }

    /// Switches checksum offload off: XDP programs see frames before it.
    fn set_offloads(&self) -> Result<(), LabError> {
        for link in 0..self.settings.clients {
            self.client().run(&format!("ethtool -K eth{link} tx off"))?;
            self.router().run(&format!("ethtool -K c{link} tx off"))?;
        }
        self.ports().try_for_each(|(node, port)| self.set_port_offloads(node, &port))
    }

    fn set_port_offloads(&self, node: &Node, port: &str) -> Result<(), LabError> {
        node.run("ethtool -K eth0 tx off")?;
        self.router().run(&format!("ethtool -K {port} tx off")).map(drop)
    }

    /// Attaches a program to each port of the bridge. Without it, frames that XDP sends there from
    /// the other end stay in a queue.
    fn add_pass_programs<'a>(
        &self,
        ports: impl Iterator<Item = (&'a Node, String)>,
    ) -> Result<(), LabError> {
        let write_error = || LabError::system("the program that passes everything");
        let mut object = NamedTempFile::new().map_err(write_error())?;
        object.write_all(PASS).map_err(write_error())?;
        for (_, port) in ports {
            let path = object.path().display();
            self.router().run(&format!("ip link set dev {port} xdpdrv obj {path} sec xdp"))?;
        }
        Ok(())
    }

    fn set_rates(&self) -> Result<(), LabError> {
        let Some(Rate(bits)) = self.settings.client_rate else { return Ok(()) };
        for link in 0..self.settings.clients {
            let shape = |device: &str| {
                format!("tc qdisc add dev {device} root tbf rate {bits}bit burst 64kb latency 50ms")
            };
            self.client().run(&shape(&format!("eth{link}")))?;
            self.router().run(&shape(&format!("c{link}")))?;
        }
        Ok(())
    }
}
