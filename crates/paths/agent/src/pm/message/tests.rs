use super::*;

fn event(command: u8, attributes: &[(u16, &[u8])]) -> Option<Event> {
    let attributes =
        attributes.iter().map(|(kind, value)| DefaultNla::new(*kind, value.to_vec())).collect();
    Event::parse(&PmMessage { command, attributes })
}

#[test]
fn a_client_s_connection_is_read_with_both_ends() {
    let token = 0x1234_5678u32.to_ne_bytes();
    let read = event(
        ESTABLISHED,
        &[
            (TOKEN, &token),
            (SADDR4, &[10, 0, 0, 1]),
            (DADDR4, &[10, 0, 0, 2]),
            (SPORT, &[0x30, 0x39]),
            (DPORT, &[0, 80]),
        ],
    );
    assert_eq!(
        read,
        Some(Event::Established {
            token: 0x1234_5678,
            local: "10.0.0.1:12345".parse().unwrap(),
            remote: "10.0.0.2:80".parse().unwrap(),
            is_server: false
        })
    );
}

#[test]
fn a_subflow_becomes_a_reserve_and_ceases_to_be_one() {
    let priority_event = |backup: u8| {
        let attributes: [(u16, &[u8]); 4] =
            [(TOKEN, &[0; 4]), (SADDR4, &[10, 0, 0, 1]), (SPORT, &[0, 7]), (BACKUP, &[backup])];
        event(SUB_PRIORITY, &attributes)
    };
    let local = "10.0.0.1:7".parse().unwrap();
    let expected = |backup| Some(Event::SubflowPriority { token: 0, local, backup });
    assert_eq!([priority_event(1), priority_event(0)], [expected(true), expected(false)]);
}

#[test]
fn an_event_that_is_cut_short_is_none() {
    assert_eq!(event(ESTABLISHED, &[(TOKEN, &[1, 2, 3, 4]), (SPORT, &[0, 1])]), None);
    assert_eq!(event(CLOSED, &[(TOKEN, &[1, 2, 3])]), None);
    assert_eq!(event(99, &[(TOKEN, &[1, 2, 3, 4])]), None);
}

#[test]
fn a_mapped_address_is_one_of_version_4() {
    let mut mapped = [0u8; 16];
    mapped[10..].copy_from_slice(&[0xff, 0xff, 10, 0, 0, 1]);
    let read = event(
        SUB_CLOSED,
        &[(TOKEN, &[0; 4]), (SADDR6, &mapped), (SPORT, &[0, 7]), (ERROR, &[110])],
    );
    let local = "10.0.0.1:7".parse().unwrap();
    assert_eq!(read, Some(Event::SubflowClosed { token: 0, local, error: 110 }));
}
