//! `heddle reproduce cflb --pcap`: the flows of a capture.

use std::fs;

use crate::support::Folder;

/// A pcap of 300 TCP packets from different ports, 10 ms apart.
fn pcap() -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(0xa1b2_c3d4u32.to_le_bytes());
    file.extend([2, 0, 4, 0]);
    file.extend([0; 8]);
    file.extend(65_535u32.to_le_bytes());
    file.extend(1u32.to_le_bytes());
    for number in 0..300u32 {
        let frame = frame(number as u16);
        let header = [number / 100, number % 100 * 10_000, frame.len() as u32, frame.len() as u32];
        file.extend(header.iter().flat_map(|field| field.to_le_bytes()));
        file.extend(frame);
    }
    file
}

/// Ethernet, IPv4 without options, TCP.
fn frame(number: u16) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([0x08, 0x00]);
    frame.extend([0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend((30_000 + number).to_be_bytes());
    frame.extend([1, 187, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 16, 0, 0, 0, 0, 0, 0]);
    frame
}

const REPRODUCE: &str = "reproduce cflb C1 --quiet --pcap capture.pcap --out out";

/// A folder with a capture.
fn with(capture: &[u8]) -> Folder {
    let folder = Folder::new();
    fs::write(folder.path("capture.pcap"), capture).unwrap();
    folder
}

#[test]
fn a_captures_flows_are_spread_by_every_chooser() {
    let folder = with(&pcap());
    let out = folder.heddle(REPRODUCE).ok();
    assert!(out.contains("capture.pcap: 300 packets of 300 frames"), "{out}");
    let found = folder.json("out/capture.json");
    let rows = found["routers"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let spreads = row["spreads"].as_array().unwrap();
        let named = |name: &str| spreads.iter().any(|spread| spread["chooser"] == name);
        assert!(named("md5") && named("rc5, B = 4"));
        assert!(spreads.iter().all(|spread| spread["flows"]["count"] == 300));
    }
}

#[test]
fn a_capture_that_was_cut_short_is_read_up_to_there() {
    let whole = pcap();
    let out = with(&whole[..whole.len() - 7]).heddle(REPRODUCE).ok();
    assert!(out.contains("299 packets of 299 frames"), "{out}");
    assert!(out.contains("it ends in the middle of a frame"), "{out}");
}

#[test]
fn what_is_no_capture_is_refused() {
    let folder = with(b"not a capture");
    let error = folder.heddle(REPRODUCE).failed(1);
    assert!(error.contains("neither a pcap nor a pcapng"), "{error}");
    let error = folder.heddle("reproduce hula H11 --pcap capture.pcap").failed(2);
    assert!(error.contains("help: heddle reproduce cflb --pcap FILE"), "{error}");
}
