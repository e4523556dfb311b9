//! A switch's programs with their maps.

use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use aya::Ebpf;
use aya::maps::{Array, DevMap, Map, MapData};
use aya::programs::SchedClassifier;
use heddle_bpf_loader::maps::{Events, absent_as_none};
use heddle_bpf_loader::{Mode, Pins, Program, Run, TcDirection, attach_tc, link_pin, run_tc};

use crate::abi::{CflbConstants, Postcard, SWITCH_ABI, SwitchConfig};
use crate::{Error, Hook, Maps, Originator, Scheme, Tables, cflb, object};

/// Names of the programs (bpf/switch/switch.bpf.c).
const INGRESS: &str = "heddle_switch";
const EGRESS: &str = "heddle_switch_egress";

/// The hooks of tc, in the names of their links: on arrival and on departure.
const TC: (&str, &str) = ("ingress", "egress");

pub use heddle_bpf_loader::Attached;

/// A switch. Dropped, it is gone from the kernel, but for what is pinned.
pub struct Switch {
    /// The maps of every scheme.
    pub maps: Maps,
    /// The scheme's tables, if it has some.
    pub tables: Option<Tables>,
    /// The scheme.
    pub scheme: Scheme,
    /// Postcards of a sample of packets, if there is one.
    pub postcards: Option<Events<Postcard>>,
    programs: Programs,
    pins: Pins,
}

/// The loaded programs.
enum Programs {
    Tc(Ebpf),
    Xdp(Box<Xdp>),
}

/// The program of an XDP hook.
struct Xdp {
    program: Program,
    mode: Mode,
    devices: Devices,
}

/// The devices of an XDP program: by port, and as groups of probes.
struct Devices {
    all: DevMap<MapData>,
    probes: Option<(DevMap<MapData>, DevMap<MapData>)>,
}

impl Switch {
    /// A switch with maps of its own, that nothing else sees; one in `one_in` packets has a postcard.
    ///
    /// # Errors
    /// [`Error::Pins`] without CAP_SYS_ADMIN, [`Error`] if the kernel does not take programs or
    /// maps.
    pub fn load(scheme: Scheme, hook: Hook, one_in: Option<NonZeroU32>) -> Result<Switch, Error> {
        Switch::load_from(Pins::private()?, scheme, hook, one_in)
    }

    /// A switch whose maps are pinned in `directory`, where those of the switch before it may be. If
    /// that one has another scheme, its programs go on with their own tables until
    /// [`Switch::attach`] puts these in their place; these begin with empty tables. One in `one_in`
    /// packets has a postcard.
    ///
    /// # Errors
    /// [`Error::Misfit`] if the maps found there are of another version of the programs,
    /// [`Error::Pins`] if there is no BPF file system, [`Error`] if the kernel does not take
    /// programs or maps.
    pub fn load_pinned(
        directory: &Path,
        scheme: Scheme,
        hook: Hook,
        one_in: Option<NonZeroU32>,
    ) -> Result<Switch, Error> {
        let pins = Pins::lasting(directory)?;
        if scheme_before(&pins)?.is_some_and(|before| before != scheme) {
            forget_tables(&pins)?;
        }
        let switch = Switch::load_from(pins, scheme, hook, one_in)?;
        let found = switch.maps.config.get(&0, 0)?.abi;
        if found != 0 && found != SWITCH_ABI {
            let why = format!("it is of version {found}, this program is of {SWITCH_ABI}");
            return Err(Error::Misfit { path: directory.join("config"), why });
        }
        Ok(switch)
    }

    fn load_from(
        pins: Pins,
        scheme: Scheme,
        hook: Hook,
        one_in: Option<NonZeroU32>,
    ) -> Result<Switch, Error> {
        let mut object = object::switch(scheme, hook, &pins, one_in)?;
        let maps = Maps::take(&mut object)?;
        let tables = Tables::take(scheme, &mut object)?;
        let take = |_| object.take_map(object::POSTCARDS).ok_or(Error::Missing(object::POSTCARDS));
        let postcards = one_in.map(take).transpose()?.map(Events::new).transpose()?;
        let programs = match hook {
            Hook::Tc => Programs::Tc(load_tc(object)?),
            Hook::Xdp => load_xdp(object, scheme, Mode::Native)?,
            Hook::XdpGeneric => load_xdp(object, scheme, Mode::Generic)?,
        };
        Ok(Switch { maps, tables, scheme, postcards, programs, pins })
    }

    /// Attaches the programs to a port's device, by pinned links if the switch is pinned: then they
    /// outlive the process, and the next switch's take their place between two packets, if they are
    /// of the same hook.
    ///
    /// # Errors
    /// [`Error::Program`] if the device has another XDP program or no such mode, [`Error::Link`] if
    /// the link cannot be pinned.
    pub fn attach(&mut self, device: &str, ifindex: u32) -> Result<Attached, Error> {
        match &mut self.programs {
            Programs::Tc(object) => {
                let path = |hook: &str| self.pins.link(hook, ifindex);
                let (ingress, egress) = (path(TC.0)?, path(TC.1)?);
                attach_tc(object, EGRESS, device, TcDirection::Egress, egress.as_deref())?;
                attach_tc(object, INGRESS, device, TcDirection::Ingress, ingress.as_deref())
            }
            Programs::Xdp(xdp) => xdp.program.attach_by(&self.pins, ifindex, xdp.mode),
        }
    }

    /// Detaches what the switch before had attached to other interfaces than these of this network
    /// namespace, or at another hook. Returns the pins that are gone.
    ///
    /// # Errors
    /// [`Error::Pins`] if a pin cannot be removed.
    pub fn release_others(&self, interfaces: &[u32]) -> Result<Vec<PathBuf>, Error> {
        let Pins::Lasting(directory) = &self.pins else { return Ok(Vec::new()) };
        let hooks: &[&str] = match &self.programs {
            Programs::Tc(_) => &[TC.0, TC.1],
            Programs::Xdp(xdp) => &[xdp.mode.hook()],
        };
        let links =
            interfaces.iter().flat_map(|&ifindex| hooks.iter().map(move |hook| (hook, ifindex)));
        let links = links.map(|(hook, ifindex)| link_pin(directory, hook, ifindex));
        heddle_bpf_loader::release_others(directory, &links.collect::<Result<Vec<_>, _>>()?)
    }

    /// Sets a port's device, for XDP; `is_below` if the far end is a switch of a lower tier, none
    /// for a host.
    ///
    /// # Errors
    /// [`Error::Map`] if there is no such device.
    pub fn set_device(
        &mut self,
        port: u32,
        ifindex: u32,
        is_below: Option<bool>,
    ) -> Result<(), Error> {
        let Programs::Xdp(xdp) = &mut self.programs else { return Ok(()) };
        let devices = &mut xdp.devices;
        devices.all.set(port, ifindex, None, 0)?;
        let (Some((all, below)), Some(is_below)) = (&mut devices.probes, is_below) else {
            return Ok(());
        };
        all.set(port, ifindex, None, 0)?;
        if is_below {
            below.set(port, ifindex, None, 0)?;
        }
        Ok(())
    }

    /// Sets CFLB's constants.
    ///
    /// # Errors
    /// [`Error::Missing`] for constants that make no codec, and if this is not CFLB; [`Error`] if
    /// the kernel does not take the program that prepares them.
    pub fn set_constants(&self, constants: &CflbConstants) -> Result<(), Error> {
        if self.scheme != Scheme::Cflb {
            return Err(Error::Missing("map of CFLB's constants"));
        }
        let map = |name| Ok::<_, Error>(Map::Array(MapData::from_pin(self.pins.path(name))?));
        cflb::prepare(constants, map("cflb_prepared")?, map("cflb_memo")?)
    }

    /// The program that sends this ToR's probes, for a thread of its own.
    ///
    /// # Errors
    /// [`Error`] if the kernel does not take it.
    pub fn originator(&self) -> Result<Originator, Error> {
        Originator::load(object::switch(self.scheme, Hook::Tc, &self.pins, None)?)
    }

    /// Runs the program of the hook on a frame (14 bytes or more) that lo has received. A
    /// redirected frame goes nowhere.
    ///
    /// # Errors
    /// [`Error::Program`] if the kernel refuses the frame.
    pub fn run(&self, frame: &[u8]) -> Result<Run, Error> {
        match &self.programs {
            Programs::Xdp(xdp) => xdp.program.run(frame, 1),
            Programs::Tc(object) => run_tc(object, INGRESS, frame, 1),
        }
    }

    /// The XDP program, to be measured; none under tc.
    pub fn xdp(&self) -> Option<&Program> {
        match &self.programs {
            Programs::Xdp(xdp) => Some(&xdp.program),
            Programs::Tc(_) => None,
        }
    }
}

/// The scheme of the switch whose maps are pinned; none for maps of another version.
fn scheme_before(pins: &Pins) -> Result<Option<Scheme>, Error> {
    let Some(data) = absent_as_none(MapData::from_pin(pins.path("config")))? else {
        return Ok(None);
    };
    let config: Array<MapData, SwitchConfig> = Map::Array(data).try_into()?;
    let config = config.get(&0, 0)?;
    Ok(Scheme::from_number(config.scheme).filter(|_| config.abi == SWITCH_ABI))
}

/// Removes the pins of all schemes' tables: no later switch finds what an earlier one has left.
fn forget_tables(pins: &Pins) -> Result<(), Error> {
    for layout in Scheme::ALL.iter().filter_map(|scheme| scheme.layout()) {
        let path = pins.path(layout.map);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(Error::Pins { path, error });
            }
            _ => {}
        }
    }
    Ok(())
}

fn load_tc(mut object: Ebpf) -> Result<Ebpf, Error> {
    for name in [INGRESS, EGRESS] {
        let program = object.program_mut(name).ok_or(Error::Missing(name))?;
        let program: &mut SchedClassifier = program.try_into()?;
        program.load()?;
    }
    Ok(object)
}

fn load_xdp(mut object: Ebpf, scheme: Scheme, mode: Mode) -> Result<Programs, Error> {
    let mut device_map = |name| -> Result<DevMap<MapData>, Error> {
        Ok(object.take_map(name).ok_or(Error::Missing(name))?.try_into()?)
    };
    let probes = match scheme.has_probes() {
        true => Some((device_map("probe_devices")?, device_map("probe_devices_below")?)),
        false => None,
    };
    let devices = Devices { all: device_map("devices")?, probes };
    Ok(Programs::Xdp(Box::new(Xdp { program: Program::load(object, INGRESS)?, mode, devices })))
}
