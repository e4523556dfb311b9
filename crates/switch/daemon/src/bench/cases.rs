//! The programs that are measured, and their packets.

use heddle_bpf_loader::Error;
use heddle_switch_maps::abi::{
    CflbCipher, CflbConstants, CflbField, CflbRules, HulaConfig, MpHulaConfig, ShuttleConfig,
    SwitchCounter,
};
use heddle_switch_maps::{Hook, Scheme};

use crate::frames::{self, MptcpOption};
use crate::rig::{PORTS, Rig};

/// A measurement.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) scheme: Scheme,
    pub(super) mp_hula: MpHulaConfig,
    pub(super) cflb: Option<CflbConstants>,
    pub(super) frames: Vec<Vec<u8>>,
    /// Handshakes that come first.
    pub(super) before: Vec<Vec<u8>>,
    /// The flows are those of the frames.
    pub(super) fixed: bool,
    /// The verdict of all frames.
    pub(super) verdict: SwitchCounter,
}

/// The first client of [`heddle_bpf_loader::Clients`], and its port.
const CLIENT: (&str, u16) = ("10.0.0.0", 0x4000);
/// Best hops that probes have found before the measurement.
const KNOWN: u16 = 8;

fn hula() -> HulaConfig {
    let config = HulaConfig::from(&heddle_policy::HulaConfig::default());
    HulaConfig { salt: 0x5eed, tors: 2, is_tor: 1, ..config }
}

fn mp_hula(best_k: u32) -> MpHulaConfig {
    MpHulaConfig {
        hula: hula(),
        idle_after: 60_000_000_000,
        best_k,
        mapping_rows: 16384,
        association_slots: 65536,
        shuttle: ShuttleConfig {
            full_queue_shift: 16,
            range_shift: 1,
            draws: 1,
            ..ShuttleConfig::default()
        },
        ..MpHulaConfig::default()
    }
}

fn constants(field: CflbField, cipher: CflbCipher) -> CflbConstants {
    CflbConstants {
        key: *b"a key of sixteen",
        low: 1024,
        high: 65535,
        radix: 8,
        field: field as u8,
        cipher: cipher as u8,
        rules: CflbRules::Even as u8,
        pad: [0; 7],
    }
}

/// All cases, ECMP first.
pub(super) fn all() -> Vec<Case> {
    let plain = |name: &str, scheme| Case {
        name: name.into(),
        scheme,
        mp_hula: MpHulaConfig::default(),
        cflb: None,
        frames: vec![frames::data(CLIENT.0, "10.0.1.1", (CLIENT.1, 5000), MptcpOption::None)],
        before: Vec::new(),
        fixed: false,
        verdict: SwitchCounter::Forwarded,
    };
    let cflb = |name: &str, field, cipher| Case {
        cflb: Some(constants(field, cipher)),
        ..plain(name, Scheme::Cflb)
    };
    let mut all = vec![
        plain("ecmp", Scheme::Ecmp),
        cflb("cflb, ports, rc5", CflbField::Ports, CflbCipher::Rc5),
        cflb("cflb, ports, skip32", CflbField::Ports, CflbCipher::Skip32),
        cflb("cflb, ports, feistel", CflbField::Ports, CflbCipher::Feistel),
        cflb("cflb, source port, feistel", CflbField::SourcePort, CflbCipher::Feistel),
    ];
    for (name, scheme) in
        [("letitflow", Scheme::LetItFlow), ("conga", Scheme::Conga), ("hula", Scheme::Hula)]
    {
        let mp_hula = MpHulaConfig { hula: hula(), ..MpHulaConfig::default() };
        all.push(Case { mp_hula, ..plain(name, scheme) });
    }
    for best_k in [1, 2, 4] {
        let name = format!("mp-hula, k = {best_k}, plain TCP");
        all.push(Case { mp_hula: mp_hula(best_k), ..plain(&name, Scheme::MpHula) });
    }
    for (best_k, subflows) in [(2, 2), (2, 4), (2, 8), (4, 8)] {
        let name = format!("mp-hula, k = {best_k}, {subflows} subflows, shims");
        let (before, frames) = frames::connection(CLIENT, subflows);
        let case = plain(&name, Scheme::MpHula);
        all.push(Case { mp_hula: mp_hula(best_k), frames, before, fixed: true, ..case });
    }
    all.push(Case { mp_hula: mp_hula(2), ..plain("shuttle, k = 2, plain TCP", Scheme::Shuttle) });
    let (before, frames) = frames::connection(CLIENT, 2);
    let case = plain("shuttle, k = 2, 2 subflows, shims", Scheme::Shuttle);
    all.push(Case { mp_hula: mp_hula(2), frames, before, fixed: true, ..case });
    for (name, scheme) in [
        ("hula, probes", Scheme::Hula),
        ("mp-hula, k = 4, probes", Scheme::MpHula),
        ("shuttle, k = 4, probes", Scheme::Shuttle),
    ] {
        all.push(Case {
            mp_hula: mp_hula(4),
            frames: (0..2 * KNOWN as u8).map(|n| frames::probe(1, 15 * n)).collect(),
            fixed: true,
            verdict: SwitchCounter::ProbeTaken,
            ..plain(name, scheme)
        });
    }
    all
}

impl Case {
    /// The switch by itself at XDP, with best hops known and handshakes learnt.
    pub(super) fn rig(&self) -> Result<Rig, Error> {
        self.prepared(Rig::new(self.scheme, self.mp_hula, self.cflb.as_ref())?)
    }

    /// The same in a network, attached to nothing yet.
    pub(super) fn rig_on(&self, interfaces: [u32; PORTS], hook: Hook) -> Result<Rig, Error> {
        self.prepared(Rig::on(interfaces, hook, self.scheme, self.mp_hula, self.cflb.as_ref())?)
    }

    fn prepared(&self, mut rig: Rig) -> Result<Rig, Error> {
        if self.scheme.has_probes() {
            for uplink in 1..=KNOWN {
                rig.from_fabric(uplink)?;
                rig.switch.run(&frames::probe(1, 10 * uplink as u8))?;
            }
            if self.verdict == SwitchCounter::Forwarded {
                rig.from_host()?;
            }
        }
        for frame in &self.before {
            rig.switch.run(frame)?;
        }
        Ok(rig)
    }
}
