//! Frames captured from Linux and made by hand, against tshark's reading of them: see
//! `tests/vectors/README.md`.

mod capture;
mod checksums;
mod fields;
mod handshakes;

use capture::{CAPTURES, Frame, frames, options};

#[test]
fn each_field_that_tshark_shows_is_as_read() {
    for (name, capture) in CAPTURES {
        for Frame { number, bytes, tshark } in frames(capture) {
            let read = fields::read(&bytes);
            for (field, value) in &tshark {
                assert_eq!(read.get(field), Some(value), "{name} frame {number}: {field}");
            }
        }
    }
}

#[test]
fn each_option_is_emitted_as_the_bytes_it_came_in() {
    for (name, capture) in CAPTURES {
        for Frame { number, bytes, .. } in frames(capture) {
            for (came, option) in options(&bytes) {
                let mut out = [0; 40];
                let len = option.emit(&mut out).unwrap();
                assert_eq!(out[..len], *came, "{name} frame {number}: {option:?}");
                assert_eq!(len, option.len());
            }
        }
    }
}

#[test]
fn the_captures_have_the_frames_of_their_readme() {
    let counts = CAPTURES.map(|(name, capture)| (name, frames(capture).len()));
    assert_eq!(counts, [("ipv4", 28), ("ipv6", 41), ("refused", 24), ("handmade", 57)]);
}
