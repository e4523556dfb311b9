//! A switch without a network: ToR 0 of two, with one host and eight uplinks, whose programs are
//! run on frames.
//!
//! Frames come in at port 0, the host's; [`Rig::from_fabric`] makes them come from an uplink.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;

use heddle_switch_maps::abi::{
    CflbConstants, CongaConfig, MpHulaConfig, SWITCH_ABI, SWITCH_NO_PORT, SwitchConfig,
    SwitchCounter, SwitchDestination, SwitchPort, SwitchRole,
};
use heddle_switch_maps::{Error, Hook, Scheme, Switch};

use crate::plan;

/// The device of frames that BPF_PROG_RUN makes: lo.
const LOOPBACK: u32 = 1;
/// Uplinks.
pub const UPLINKS: u16 = 8;
/// Ports: the host's and the uplinks.
pub const PORTS: usize = 1 + UPLINKS as usize;
/// The host's port.
pub const HOST: u16 = 0;
/// The host's addresses, and those of a host at the other ToR.
pub const ADDRESSES: [(&str, u16); 4] =
    [("10.0.0.1", 0), ("10.0.1.1", 1), ("fd00::1", 0), ("fd00::2", 1)];

/// The switch's own addresses.
pub const OWN: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
);

/// IPv4's protocol number of probes.
pub const PROBE_PROTOCOL: u8 = 253;

/// A switch without a network.
pub struct Rig {
    /// Programs and maps.
    pub switch: Switch,
}

impl Rig {
    /// A switch with this scheme at XDP; `cflb` for CFLB.
    ///
    /// # Errors
    /// If the kernel does not take programs or maps.
    pub fn new(
        scheme: Scheme,
        mp_hula: MpHulaConfig,
        cflb: Option<&CflbConstants>,
    ) -> Result<Rig, Error> {
        Rig::at(Hook::Xdp, scheme, mp_hula, cflb)
    }

    /// The same at any hook.
    ///
    /// # Errors
    /// As [`Rig::new`].
    pub fn at(
        hook: Hook,
        scheme: Scheme,
        mp_hula: MpHulaConfig,
        cflb: Option<&CflbConstants>,
    ) -> Result<Rig, Error> {
        Rig::on([LOOPBACK; PORTS], hook, scheme, mp_hula, cflb)
    }

    /// The same with a network: the numbers of its ports' interfaces, the host's first. The
    /// programs are attached to none.
    ///
    /// # Errors
    /// As [`Rig::new`].
    pub fn on(
        interfaces: [u32; PORTS],
        hook: Hook,
        scheme: Scheme,
        mp_hula: MpHulaConfig,
        cflb: Option<&CflbConstants>,
    ) -> Result<Rig, Error> {
        Rig::of(Switch::load(scheme, hook, None)?, interfaces, mp_hula, cflb)
    }

    /// The same, with postcards of one in `one_in` packets, at the ports of [`Rig::at`].
    ///
    /// # Errors
    /// As [`Rig::new`].
    pub fn sampling(
        one_in: NonZeroU32,
        hook: Hook,
        scheme: Scheme,
        mp_hula: MpHulaConfig,
        cflb: Option<&CflbConstants>,
    ) -> Result<Rig, Error> {
        let switch = Switch::load(scheme, hook, Some(one_in))?;
        Rig::of(switch, [LOOPBACK; PORTS], mp_hula, cflb)
    }

    fn of(
        mut switch: Switch,
        interfaces: [u32; PORTS],
        mp_hula: MpHulaConfig,
        cflb: Option<&CflbConstants>,
    ) -> Result<Rig, Error> {
        if let Some(constants) = cflb {
            switch.set_constants(constants)?;
        }
        let config = SwitchConfig {
            up: (1 << (UPLINKS + 1)) - 1,
            abi: SWITCH_ABI,
            salt: 0x5eed,
            router: 0,
            tors: 2,
            tor: 0,
            dre_shift: 20,
            scheme: switch.scheme as u32,
            probe_protocol: PROBE_PROTOCOL,
            kernel_routes: 0,
            pad: [0; 6],
            answers_v4: OWN.0.into(),
            answers_v6: OWN.1.into(),
            mp_hula,
            conga: CongaConfig { metric_age: 60_000_000_000, metric_bits: 3, pad: 0 },
        };
        switch.maps.config.set(0, config, 0)?;
        let hops: Vec<u16> = (1..=UPLINKS).collect();
        switch.maps.groups.set(1, plan::next_hops(&hops), 0)?;
        switch.maps.tor_groups.set(1, 1, 0)?;
        for (port, interface) in (0..).zip(interfaces) {
            switch.maps.ports.set(port.into(), self::port(port, interface), 0)?;
            switch.set_device(port.into(), interface, (port != HOST).then_some(false))?;
            switch.maps.interfaces.insert(interface, port.into())?;
        }
        for (address, tor) in ADDRESSES {
            let address: IpAddr = address.parse().unwrap_or(IpAddr::V4([0, 0, 0, 0].into()));
            let port = if tor == 0 { HOST } else { SWITCH_NO_PORT as u16 };
            let destination = SwitchDestination { tor, port, pad: 0 };
            switch.maps.destinations.insert(&address.into(), &destination)?;
        }
        let mut rig = Rig { switch };
        rig.from_host()?;
        Ok(rig)
    }

    /// Lets frames come from the host.
    ///
    /// # Errors
    /// If the kernel would not.
    pub fn from_host(&mut self) -> Result<(), Error> {
        self.switch.maps.interfaces.insert(LOOPBACK, HOST.into())
    }

    /// Lets frames come from an uplink: 1 to [`UPLINKS`].
    ///
    /// # Errors
    /// If the kernel would not.
    pub fn from_fabric(&mut self, uplink: u16) -> Result<(), Error> {
        self.switch.maps.interfaces.insert(LOOPBACK, uplink.into())
    }

    /// Lets the host send from its own addresses alone.
    ///
    /// # Errors
    /// If the kernel would not.
    pub fn check_sources(&mut self) -> Result<(), Error> {
        let port = SwitchPort { own_sources: 1, ..port(HOST, LOOPBACK) };
        Ok(self.switch.maps.ports.set(HOST.into(), port, 0)?)
    }

    /// A counter.
    ///
    /// # Errors
    /// If the kernel would not.
    pub fn count(&self, counter: SwitchCounter) -> Result<u64, Error> {
        Ok(self.switch.maps.verdicts.sum(counter as u32)?.packets)
    }

    /// All verdicts, of which each frame has one.
    ///
    /// # Errors
    /// If the kernel would not.
    pub fn verdicts(&self) -> Result<u64, Error> {
        let verdicts = 0..SwitchCounter::SWITCH_VERDICTS as u32;
        verdicts.map(|verdict| Ok(self.switch.maps.verdicts.sum(verdict)?.packets)).sum()
    }

    /// Packets that were forwarded to another ToR.
    ///
    /// # Errors
    /// If the kernel would not.
    pub fn forwarded(&self) -> Result<u64, Error> {
        self.count(SwitchCounter::Forwarded)
    }
}

fn port(number: u16, ifindex: u32) -> SwitchPort {
    let role = if number == HOST { SwitchRole::Host } else { SwitchRole::Up };
    let mac = |last: u16| u64::from(last) << 40 | 0x02;
    SwitchPort {
        own_mac: mac(number),
        peer_mac: mac(100 + number),
        probe_group: 0,
        full: 1 << 20,
        ifindex,
        mtu: 1500,
        role: role as u8,
        learns: 0,
        own_sources: 0,
        pad: [0; 5],
    }
}
