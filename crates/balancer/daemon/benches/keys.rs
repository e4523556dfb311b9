//! Keys a second that one thread makes ahead: `cargo bench --package heddled --bench keys`.
//!
//! Into the kernel's own queue, with the system call that this takes, as root. RomanRoads gives no
//! number; its balancer needs one key for each new connection.

use std::time::Instant;

use heddle_balancer_maps::{Balancer, Clock, Sizes};
use heddle_wire::Version;
use heddled::key_pool::Generator;

const KEYS: u32 = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("{:>9} {:>12} {:>10} {:>14}", "balancers", "keys/s", "ns/key", "tries per key");
    for balancers in [1, 2, 4, 8, 16] {
        let sizes = Sizes { ready_keys: KEYS, ..Sizes::small() };
        let mut queue = Balancer::load(&sizes, Clock::Kernel)?.maps.ready_keys_v1;
        let owns = Box::new(move |token: u32| (token >> 20).is_multiple_of(balancers));
        let mut generator = Generator::new(Version::V1, Box::new(getrandom::fill), owns);
        let start = Instant::now();
        while generator.made() < KEYS.into() {
            generator.fill(&mut queue)?;
        }
        let seconds = start.elapsed().as_secs_f64();
        let made = generator.made() as f64;
        println!(
            "{balancers:>9} {:>12.0} {:>10.0} {:>14.2}",
            made / seconds,
            seconds * 1e9 / made,
            generator.tried() as f64 / made
        );
    }
    Ok(())
}
