//! Services whose backends connection ids of QUIC name.

use super::*;

/// The configuration with QUIC, and backends of these numbers with these server ids.
fn with_ids(backends: &[(u8, &str)]) -> Config {
    let numbers: Vec<u8> = backends.iter().map(|(number, _)| *number).collect();
    let mut text = config_text(&numbers).replace(
        "port = 443\n",
        "port = 443\nprotocol = 'udp'\nquic = { config_rotation = 3, server_id_length = 2 }\n",
    );
    for (number, id) in backends {
        let id_line = format!("id = {number}\n");
        text = text.replace(&format!("\n{id_line}"), &format!("\n{id_line}server_id = '{id}'\n"));
    }
    load("lb.toml", &text).unwrap()
}

fn name(id: [u8; 2]) -> ServerName {
    ServerName { service: 1, rotation: 3, server_id: id.to_vec() }
}

impl Trace {
    fn named(&self, id: [u8; 2]) -> Option<u16> {
        self.plan.maps.quic_servers.get(&name(id)).copied()
    }
}

#[test]
fn each_backend_has_its_server_id_before_the_service_reads_ids() {
    let mut trace = Trace::start();
    let changes = trace.update(&with_ids(&[(1, "00a1"), (2, "00a2")])).unwrap();
    let kinds = kinds(&changes);
    let place = |kind| kinds.iter().position(|other| *other == kind).unwrap();
    assert!(place("up") < place("server id") && place("server id") < place("vip"), "{kinds:?}");
    assert_eq!(trace.named([0, 0xa1]), Some(trace.index(1)));
    assert_eq!(trace.named([0, 0xa2]), Some(trace.index(2)));
    let service = trace.plan.maps.vips.values().find(|vip| vip.kind == VipKind::Service as u8);
    assert_eq!(service.unwrap().choices, 0x32, "rotation and length");
}

#[test]
fn a_service_without_quic_reads_no_ids() {
    let mut trace = Trace::start();
    trace.update(&config(&[1])).unwrap();
    assert!(trace.plan.maps.quic_servers.is_empty());
    assert!(trace.plan.maps.vips.values().all(|vip| vip.choices == 0));
}

/// Its connections go on until they end; then the id is nobody's. Another backend may have it at
/// once.
#[test]
fn a_removed_backend_keeps_its_server_id_as_long_as_its_flows() {
    let both = with_ids(&[(1, "00a1"), (2, "00a2")]);
    let mut trace = Trace::start();
    trace.update(&both).unwrap();
    let of_2 = trace.index(2);
    let changes = trace.update(&with_ids(&[(1, "00a1")])).unwrap();
    assert!(!kinds(&changes).contains(&"no server id"), "{:?}", kinds(&changes));
    assert_eq!((trace.state(2), trace.named([0, 0xa2])), (REMOVED, Some(of_2)));
    trace.now += both.timeouts.longest() + Duration::from_secs(1);
    let changes = trace.update(&with_ids(&[(1, "00a1")])).unwrap();
    assert!(kinds(&changes).contains(&"no server id"));
    assert_eq!(trace.named([0, 0xa2]), None);

    let mut trace = Trace::start();
    trace.update(&both).unwrap();
    trace.update(&with_ids(&[(1, "00a1"), (3, "00a2")])).unwrap();
    assert_eq!(trace.named([0, 0xa2]), Some(trace.index(3)));
}

#[test]
fn a_changed_server_id_replaces_the_old_one() {
    let mut trace = Trace::start();
    trace.update(&with_ids(&[(1, "00a1")])).unwrap();
    trace.update(&with_ids(&[(1, "00b1")])).unwrap();
    assert_eq!(trace.named([0, 0xa1]), None);
    assert_eq!(trace.named([0, 0xb1]), Some(trace.index(1)));
}

/// Balancers with other server ids send packets to other backends: the others see that.
#[test]
fn the_fingerprint_covers_server_ids() {
    let keys = Keys { seed: [1, 2], maglev_seed: 3, steering: [[4, 5], [0; 2]] };
    let fingerprint = |config: &Config| settings(config, &keys, &Maps::default()).fingerprint;
    let prints = [
        fingerprint(&with_ids(&[(1, "00a1"), (2, "00a2")])),
        fingerprint(&with_ids(&[(1, "00a2"), (2, "00a1")])),
        fingerprint(&with_ids(&[(1, "00a1"), (2, "00a3")])),
        fingerprint(&config(&[1, 2])),
    ];
    assert_eq!(prints.iter().collect::<BTreeSet<_>>().len(), prints.len());
}
