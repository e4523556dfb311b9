//! Packets between the groups of dragonflies, by an intermediate group or not, over links that
//! fail.

use heddle_policy::Tor;
use heddle_scenario::{Source, load};

use super::*;
use crate::network::{Body, Hot, NIL};

const DRAGONFLIES: [&str; 4] = [
    "routers = 4",
    "routers = 4, groups = 3",
    "routers = 2, global_links = 2, hosts_per_router = 1",
    "routers = 3, global_links = 1, hosts_per_router = 2",
];
const ROUTINGS: [&str; 3] = ["valiant", "ugal-l", "ugal-g"];
const SCHEMES: [&str; 4] = ["ecmp", "spray", "drill", "letitflow"];

/// Most packets under way at a time: fewer than any port drops.
const PACKETS: u64 = 200;

fn dragonfly(shape: &str, routing: &str, intermediate: &str, scheme: &str) -> Scenario {
    let text = format!(
        r#"
        scheme = "{scheme}"
        fabric = {{ kind = "dragonfly", {shape}, routing = "{routing}", intermediate = "{intermediate}" }}
        workload = {{ kind = "long" }}
        measure = {{ duration = "1s" }}
        "#
    );
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    load(&Source::new("dragonfly.toml", text), &no_files).unwrap_or_else(|error| panic!("{error}"))
}

/// A packet and how it fared.
#[derive(Clone, Copy, Debug)]
struct Sent {
    from: u32,
    to: u32,
    /// Links between switches that it has crossed, and those of them between groups.
    links: u32,
    crossings: u32,
    arrived: bool,
}

impl<S: Scheme> Simulation<'_, S> {
    /// Takes the links down of which `is_down` holds, and the others up; routes follow.
    fn set_links(&mut self, is_down: impl Fn(u32) -> bool) {
        for (port, info) in (0..).zip(&self.fabric.ports) {
            match is_down(info.link) {
                true => self.network.fail(port, self.now),
                false => self.network.recover(port),
            }
        }
        self.switching.routes = self.switching.find_routes(&self.fabric, |l| !is_down(l)).unwrap();
    }

    /// Sends packets between hosts drawn at random, each of a flow of its own.
    fn inject(&mut self, count: u64, random: &mut Random) -> Vec<Sent> {
        let hosts = u64::from(self.fabric.hosts);
        let send = |_| {
            let (from, to) = (random.below(hosts) as u32, random.below(hosts) as u32);
            let hot = Hot {
                arrival: self.now,
                next: NIL,
                connection: 0,
                flow_hash: random.bits(),
                dst_host: to as u16,
                dst_tor: self.switching.routes.undecided().unwrap(),
                src_tor: self.fabric.host_tor[from as usize],
                size: 1518,
                tag: 0,
                kind: PacketKind::Forward,
                is_handshake: false,
            };
            self.network.packets.add(hot, Body::default());
            Sent { from, to, links: 0, crossings: 0, arrived: false }
        };
        let sent: Vec<Sent> = (0..count).map(send).collect();
        for (packet, sent) in (0..).zip(&sent) {
            self.network.send(self.now, sent.from, packet);
        }
        sent
    }

    /// Delivers packets until none is under way, or before the first arrival after `end`.
    fn deliver(&mut self, sent: &mut [Sent], end: Time) {
        while let Some((at, event)) = self.network.events.pop() {
            self.now = at;
            let Event::Arrival(port) = event else { continue };
            let Some(packet) = self.network.arrive(at, port) else { continue };
            let info = self.fabric.ports[port as usize];
            let sent = &mut sent[packet as usize];
            if info.to_host {
                assert_eq!(info.to, sent.to);
                sent.arrived = true;
                self.network.packets.remove(packet);
                continue;
            }
            if info.owner >= self.fabric.hosts {
                let groups = [info.owner, info.to].map(|node| self.fabric.node(node).pod);
                sent.links += 1;
                sent.crossings += u32::from(groups[0] != groups[1]);
            }
            let switch = info.to - self.fabric.hosts;
            self.switching.forward(&self.fabric, &mut self.network, at, switch, packet);
            if at > end {
                return;
            }
        }
    }

    /// Links between switches of the longest path to a ToR or a group.
    fn longest(&self) -> u32 {
        let routes = &self.switching.routes;
        let length = |from: u32, to: Tor| {
            let (mut at, mut links) = (from, 0);
            while let Some(hop) = routes.next_hops(at, to).first() {
                let port = self.fabric.first_port_of_switch(at) + u32::from(hop.0);
                (at, links) = (self.fabric.ports[port as usize].to - self.fabric.hosts, links + 1);
            }
            links
        };
        let undecided = routes.undecided().unwrap().0;
        let all = (0..self.fabric.switches())
            .flat_map(|from| (0..undecided).map(move |to| (from, Tor(to))));
        all.map(|(from, to)| length(from, to)).max().unwrap_or(0)
    }

    fn is_routable(&self, sent: &Sent) -> bool {
        let [from, to] = [sent.from, sent.to].map(|host| self.fabric.host_tor[host as usize]);
        from == to || !self.switching.routes.next_hops(from.0.into(), to).is_empty()
    }

    /// One or two links between switches, drawn at random.
    fn draw_links(&self, random: &mut Random) -> Vec<u32> {
        let between =
            self.fabric.ports.iter().filter(|p| p.owner >= self.fabric.hosts && !p.to_host);
        let links: Vec<u32> = between.map(|port| port.link).collect();
        (0..=random.below(2)).map(|_| links[random.below(links.len() as u64) as usize]).collect()
    }
}

/// A test's action on a simulation.
trait Check {
    fn check<S: Scheme>(self, simulation: Simulation<'_, S>);
}

struct Run<'a, A>(&'a Scenario, A);

impl<A: Check> schemes::WithScheme for Run<'_, A> {
    type Output = ();

    fn with<S: Scheme>(self, config: S::Config) {
        let Run(scenario, check) = self;
        check.check(Simulation::<S>::new(scenario, config, 1).unwrap());
    }
}

fn run(scenario: &Scenario, check: impl Check) {
    schemes::dispatch(&scenario.scheme, 1, Run(scenario, check)).unwrap();
}

/// Links fail before packets are sent, and others in their place while they are under way.
struct Failures(Random);

impl Check for Failures {
    fn check<S: Scheme>(mut self, mut simulation: Simulation<'_, S>) {
        let random = &mut self.0;
        let down = simulation.draw_links(random);
        simulation.set_links(|link| down.contains(&link));
        let mut sent = simulation.inject(PACKETS, random);
        let (routable, longest) =
            (sent.iter().filter(|sent| simulation.is_routable(sent)).count(), simulation.longest());
        let changes = random.below(2) == 0;
        let end = if changes { Time::micros(random.below(20)) } else { Time::NEVER };
        simulation.deliver(&mut sent, end);
        let mut bound = 2 * longest;
        if changes {
            let down = simulation.draw_links(random);
            simulation.set_links(|link| down.contains(&link));
            bound += 2 * simulation.longest();
            simulation.deliver(&mut sent, Time::NEVER);
        }
        assert!(sent.iter().all(|sent| sent.links <= bound), "{bound}: {sent:?}");
        let arrived = sent.iter().filter(|sent| sent.arrived).count();
        let lost: u64 =
            simulation.network.port_stats.iter().map(|l| l.buffer_drops + l.failure_drops).sum();
        assert_eq!(arrived as u64 + lost + simulation.switching.unroutable, PACKETS);
        if !changes {
            assert_eq!((arrived, lost), (routable, 0));
        }
    }
}

#[test]
fn packets_arrive_or_have_no_route_whatever_links_fail() {
    for seed in seeds() {
        let _replay = Replay(seed);
        let mut random = Random::new(seed, Stream::Traffic);
        let mut draw = |from: &[&'static str]| from[random.below(from.len() as u64) as usize];
        let (shape, routing) = (draw(&DRAGONFLIES), draw(&ROUTINGS));
        let (intermediate, scheme) = (draw(&["flow", "packet"]), draw(&SCHEMES));
        run(&dragonfly(shape, routing, intermediate, scheme), Failures(random));
    }
}

/// Kim et al., section 4.1: five steps at most, two of them between groups; of one hop between
/// groups if the group drawn is that of an end.
struct Steps;

impl Check for Steps {
    fn check<S: Scheme>(self, mut simulation: Simulation<'_, S>) {
        let mut sent = simulation.inject(PACKETS, &mut Random::new(1, Stream::Traffic));
        simulation.deliver(&mut sent, Time::NEVER);
        assert!(sent.iter().all(|sent| sent.arrived));
        let groups =
            |sent: &Sent| [sent.from, sent.to].map(|host| simulation.fabric.node(host).pod);
        let (near, far): (Vec<&Sent>, Vec<&Sent>) =
            sent.iter().partition(|sent| groups(sent)[0] == groups(sent)[1]);
        assert!(near.iter().all(|sent| sent.links <= 1 && sent.crossings == 0));
        assert_eq!(far.iter().map(|sent| sent.links).max(), Some(5));
        let twice = far.iter().filter(|sent| sent.crossings == 2).count() as f64 / far.len() as f64;
        assert!(far.iter().all(|sent| (1..=2).contains(&sent.crossings)));
        assert!((0.68..0.88).contains(&twice), "7 of 9 groups are neither end's: {twice}");
    }
}

#[test]
fn valiant_paths_have_five_steps_two_of_them_between_groups() {
    for intermediate in ["flow", "packet"] {
        run(&dragonfly(DRAGONFLIES[0], "valiant", intermediate, "ecmp"), Steps);
    }
}

/// Without load both queues are empty, and UGAL's packets take minimal paths.
struct Idle;

impl Check for Idle {
    fn check<S: Scheme>(self, mut simulation: Simulation<'_, S>) {
        let mut random = Random::new(1, Stream::Traffic);
        for _ in 0..100 {
            let mut sent = simulation.inject(1, &mut random);
            simulation.deliver(&mut sent, Time::NEVER);
            assert!(sent[0].arrived && sent[0].crossings <= 1 && sent[0].links <= 3, "{sent:?}");
        }
    }
}

#[test]
fn ugal_takes_minimal_paths_where_no_packet_waits() {
    for routing in ["ugal-l", "ugal-g"] {
        run(&dragonfly(DRAGONFLIES[0], routing, "packet", "ecmp"), Idle);
    }
}
