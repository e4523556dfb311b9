//! Programs in the real kernel, run on frames.
mod kernel;

use heddle_dataplane::{Action, Balancer, Clock, Sizes, pass};

#[test]
fn pass_passes_a_frame_as_it_is() {
    if !kernel::is_ours() {
        return;
    }
    let frame: Vec<u8> = (0..100).collect();
    let run = pass().unwrap().run(&frame, 1).unwrap();
    assert_eq!((run.action, run.data), (Action::Pass, frame));
}

#[test]
fn many_balancers_live_in_one_process() {
    if !kernel::is_ours() {
        return;
    }
    let load = || Balancer::load(&Sizes::small(), Clock::Settings).unwrap();
    let balancers = [load(), load(), load()];
    for balancer in &balancers {
        assert_eq!(balancer.program.run(&[0; 64], 1).unwrap().action, Action::Pass);
    }
}
