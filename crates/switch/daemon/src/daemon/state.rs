//! The daemon's state beside the kernel's.

use std::collections::BTreeMap;

use heddle_daemon::pin_lock::PinLock;
use heddle_switch_maps::abi::{SWITCH_PORTS, SwitchPort, SwitchRole};
use heddle_switch_maps::{Attached, Error, Scheme, Switch};
use tokio::time::Instant;

use super::DaemonError;
use crate::config::{Config, Routes};
use crate::devices::{Device, Devices};
use crate::kernel::{self, FabricPorts, Fib, Towards};
use crate::plan::{self, Groups, Links};

/// A switch that runs.
pub struct State {
    /// The configuration.
    pub config: Config,
    /// Programs and maps.
    pub switch: Switch,
    /// The devices as they were seen last.
    pub devices: Devices,
    /// Links anywhere in the fabric that are said to be down.
    pub reported: Links,
    /// The ways that the kernel's routes have; empty with a fabric file.
    pub towards: Towards,
    fib: Fib,
    groups: Groups,
    /// Time at which routes will follow a change of links.
    converges_at: Option<Instant>,
    _locked: Option<PinLock>,
}

impl State {
    /// Loads the programs, with the maps of the daemon before if there are any, fills them, and
    /// attaches the programs to all ports. `fib` is the kernel's table, if routes come from there.
    ///
    /// # Errors
    /// [`DaemonError`].
    pub fn start(config: Config, devices: Devices, fib: Fib) -> Result<State, DaemonError> {
        let scheme = config.scheme.scheme;
        let one_in = config.postcards.as_ref().map(|sample| sample.one_in);
        let locked = PinLock::take(&config.pin)?;
        let switch = Switch::load_pinned(&config.pin, scheme, config.hook, one_in)?;
        // The first daemon here has made the folder.
        let locked = if locked.is_some() { locked } else { PinLock::take(&config.pin)? };
        let before = switch.maps.config.get(&0, 0).map_err(Error::from)?;
        if let Some(other) = Scheme::from_number(before.scheme)
            && before.abi != 0
            && other != scheme
        {
            tracing::info!("{scheme} takes the place of {other}, with empty tables");
        }
        if let Some(constants) = &config.scheme.cflb {
            switch.set_constants(constants)?;
        }
        let groups = found(&switch, config.tors)?;
        let reported = config.fabric().map(plan::failed).unwrap_or_default();
        let mut state = State {
            config,
            switch,
            devices,
            reported,
            towards: Towards::default(),
            fib,
            groups,
            converges_at: None,
            _locked: locked,
        };
        for pin in heddle_switch_maps::left_behind(&state.config.pin)? {
            let pin = pin.display();
            tracing::warn!(%pin, "the interface of a pinned link is gone; heddle-switch detach removes all pins");
        }
        state.look_towards();
        state.write_destinations()?;
        state.forget_ports()?;
        state.write_ports()?;
        state.write_routes()?;
        state.write_prefixes()?;
        state.write_config()?;
        state.attach()?;
        state.release_others()?;
        Ok(state)
    }

    /// The ways to ToRs by the kernel's table and the interfaces that there are.
    fn look_towards(&mut self) {
        let Routes::Kernel(routes) = &self.config.routes else { return };
        let numbered = self.config.ports.iter().filter_map(|port| {
            let is_fabric = port.role != SwitchRole::Host;
            let device = self.devices.get(&port.device).filter(|_| is_fabric)?;
            Some((device.ifindex, port.number))
        });
        let up = plan::up(&self.config, &self.devices);
        let ports = FabricPorts { numbers: numbered.collect(), up };
        self.towards = kernel::towards(&self.fib, routes, self.config.tor, &ports);
    }

    /// The names of all ports' devices.
    pub fn device_names(&self) -> Vec<String> {
        self.config.ports.iter().map(|port| port.device.clone()).collect()
    }

    fn attach(&mut self) -> Result<(), DaemonError> {
        for port in &self.config.ports {
            let Some(device) = self.devices.get(&port.device) else { continue };
            let is_below = (port.role != SwitchRole::Host).then_some(port.role == SwitchRole::Down);
            self.switch.set_device(port.number.into(), device.ifindex, is_below)?;
            match self.switch.attach(&port.device, device.ifindex)? {
                Attached::Afresh => tracing::info!(device = port.device, "attached"),
                Attached::InPlace => {
                    tracing::info!(device = port.device, "took over from the daemon before");
                }
            }
        }
        Ok(())
    }

    /// Lets interfaces go that the configuration of the daemon before had, or the hook that it had.
    fn release_others(&self) -> Result<(), Error> {
        let own: Vec<u32> = self.devices.values().map(|device| device.ifindex).collect();
        for pin in self.switch.release_others(&own)? {
            tracing::info!(pin = %pin.display(), "detached: no longer in the configuration");
        }
        Ok(())
    }

    fn write_destinations(&mut self) -> Result<(), Error> {
        let wanted = plan::destinations(&self.config);
        let map = &mut self.switch.maps.destinations;
        for (&ip, destination) in &wanted {
            map.insert(&ip.into(), destination)?;
        }
        for (address, _) in map.entries()? {
            if !wanted.contains_key(&address.into()) {
                map.remove(&address)?;
            }
        }
        Ok(())
    }

    fn write_prefixes(&mut self) -> Result<(), Error> {
        let wanted = plan::prefixes(self.config.tor, &self.towards.prefixes);
        let map = &mut self.switch.maps.prefixes;
        let before: BTreeMap<_, _> = map.entries()?.into_iter().collect();
        for (prefix, to) in wanted.iter().filter(|(prefix, to)| before.get(prefix) != Some(to)) {
            map.insert(*prefix, to)?;
        }
        for prefix in before.keys().filter(|prefix| !wanted.contains_key(prefix)) {
            map.remove(*prefix)?;
        }
        Ok(())
    }

    /// Takes out the interfaces of ports that have another one now, or none.
    fn forget_ports(&mut self) -> Result<(), Error> {
        for number in 0..SWITCH_PORTS {
            let before = self.switch.maps.ports.get(&number, 0)?;
            let own = self.config.ports.iter().find(|port| u32::from(port.number) == number);
            let device = own.and_then(|port| self.devices.get(&port.device));
            if before.ifindex == 0 || device.is_some_and(|device| device.ifindex == before.ifindex)
            {
                continue;
            }
            self.switch.maps.interfaces.remove(before.ifindex)?;
            self.switch.maps.ports.set(number, SwitchPort::default(), 0)?;
        }
        Ok(())
    }

    fn write_ports(&mut self) -> Result<(), Error> {
        for port in &self.config.ports {
            let number = u32::from(port.number);
            let before = self.switch.maps.ports.get(&number, 0)?;
            let Some(device) = self.devices.get(&port.device) else {
                // The device may come back under another number.
                self.switch.maps.ports.set(number, SwitchPort::default(), 0)?;
                self.switch.maps.interfaces.remove(before.ifindex)?;
                continue;
            };
            let known = port.mac.or_else(|| self.towards.macs.get(&port.number).copied());
            let peer = plan::Neighbour { known, before: before.peer_mac };
            let after = plan::port(&self.config, port, device, peer);
            self.switch.maps.ports.set(number, after, 0)?;
            self.switch.maps.interfaces.insert(device.ifindex, number)?;
        }
        Ok(())
    }

    fn write_config(&mut self) -> Result<(), Error> {
        let up = plan::up(&self.config, &self.devices);
        Ok(self.switch.maps.config.set(0, plan::config(&self.config, up), 0)?)
    }

    /// Writes sets of next hops before the ToRs that refer to them.
    fn write_routes(&mut self) -> Result<(), DaemonError> {
        let writes = match &self.config.routes {
            Routes::Fabric(own) => {
                let up = plan::up(&self.config, &self.devices);
                let down = &plan::local_failures(own, up) | &self.reported;
                self.groups.change(&plan::routes(own, &down)?)
            }
            Routes::Kernel(_) => self.groups.change(&self.towards.routes),
        };
        for (number, set) in &writes.sets {
            let set = plan::next_hops(set);
            self.switch.maps.groups.set(*number, set, 0).map_err(Error::from)?;
        }
        for (tor, group) in (0..).zip(&writes.tors) {
            self.switch.maps.tor_groups.set(tor, group, 0).map_err(Error::from)?;
        }
        Ok(())
    }

    /// Follows the kernel's table, whose writer has converged already.
    pub fn follow_kernel(&mut self, fib: Fib) {
        self.fib = fib;
        let before = self.towards.clone();
        self.look_towards();
        if before == self.towards {
            return;
        }
        let written = self.write_ports().map_err(DaemonError::from);
        let written = written.and_then(|()| self.write_routes());
        let written = written.and_then(|()| Ok(self.write_prefixes()?));
        match written {
            Ok(()) => tracing::debug!(
                prefixes = self.towards.prefixes.len(),
                "routes follow the kernel's"
            ),
            Err(error) => tracing::error!(%error, "the kernel's routes cannot be followed"),
        }
    }

    /// Neighbours that the kernel should resolve: the device and the address.
    pub fn unresolved(&self) -> Vec<(String, std::net::IpAddr)> {
        let name = |ifindex: u32| {
            let mut devices = self.devices.iter();
            devices.find(|(_, device)| device.ifindex == ifindex).map(|(name, _)| name.clone())
        };
        let wanted = self.towards.unresolved.iter();
        wanted.filter_map(|&(ifindex, address)| Some((name(ifindex)?, address))).collect()
    }

    /// Follows the devices: the ports' state at once, routes after the fabric's convergence time,
    /// or with the kernel's.
    pub fn follow(&mut self, devices: Devices) {
        let before = plan::up(&self.config, &self.devices);
        let came = self.came_back(&devices);
        self.devices = devices;
        let after = plan::up(&self.config, &self.devices);
        let written = self.write_ports().and_then(|()| self.write_config());
        if let Err(error) = written {
            tracing::error!(%error, "the maps cannot be written");
        }
        if came && let Err(error) = self.attach() {
            tracing::error!(%error, "a device that came back cannot be attached");
        }
        if before != after {
            tracing::info!("ports that are up: {after:b}");
            self.schedule();
        }
    }

    /// True if a device is there that was not, or is another one now.
    fn came_back(&self, devices: &Devices) -> bool {
        let ifindex = |devices: &Devices, name: &String| {
            devices.get(name).map(|device: &Device| device.ifindex)
        };
        devices.keys().any(|name| ifindex(devices, name) != ifindex(&self.devices, name))
    }

    /// Routes follow the links' state: after the fabric's convergence time, the kernel's at once.
    pub fn schedule(&mut self) {
        match self.config.fabric() {
            Some(own) => {
                let convergence = own.file.fabric.convergence.as_nanos();
                let wait = std::time::Duration::from_nanos(convergence);
                self.converges_at = Some(Instant::now() + wait);
            }
            None => self.follow_kernel(self.fib.clone()),
        }
    }

    /// Notes that links between two nodes are down, or work again. Returns all that are down now.
    ///
    /// # Errors
    /// If no link joins these nodes.
    pub fn report(
        &mut self,
        ends: &(String, String),
        up: bool,
    ) -> Result<Vec<(String, String)>, String> {
        let Some(own) = self.config.fabric() else {
            let why = "the kernel's routes say which links are down";
            return Err(format!(
                "{why}: `ip link set DEVICE down`, or the routing daemon's command"
            ));
        };
        let graph = &own.fabric.graph;
        let name = |node: u32| graph.nodes[node as usize].name.clone();
        let between = |link: &heddle_scenario::Link| {
            let found = (name(link.ends.0), name(link.ends.1));
            found == *ends || found == (ends.1.clone(), ends.0.clone())
        };
        let links = (0..).zip(&graph.links);
        let links: Links =
            links.filter(|(_, link)| between(link)).map(|(number, _)| number).collect();
        if links.is_empty() {
            return Err(format!("no link joins {} and {}", ends.0, ends.1));
        }
        self.reported = if up { &self.reported - &links } else { &self.reported | &links };
        let ends = |link: &u32| graph.links[*link as usize].ends;
        let down = self.reported.iter().map(ends).map(|(a, b)| (name(a), name(b))).collect();
        self.schedule();
        Ok(down)
    }

    /// Time at which routes will follow a change of links; none without a change.
    pub fn converges_at(&self) -> Option<Instant> {
        self.converges_at
    }

    /// Makes routes follow the links.
    pub fn converge(&mut self) {
        self.converges_at = None;
        match self.write_routes() {
            Ok(()) => tracing::info!("routes follow the links"),
            Err(error) => tracing::error!(%error, "routes cannot be written"),
        }
    }
}

/// The sets of next hops that a daemon before has left in use.
fn found(switch: &Switch, tors: u16) -> Result<Groups, Error> {
    let mut sets = Vec::new();
    for tor in 0..u32::from(tors) {
        let number = switch.maps.tor_groups.get(&tor, 0)?;
        let set = switch.maps.groups.get(&number, 0)?;
        if number != 0 {
            let count = (set.count as usize).min(set.ports.len());
            sets.push((number, set.ports[..count].to_vec()));
        }
    }
    Ok(Groups::found(sets))
}
