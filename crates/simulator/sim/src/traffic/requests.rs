//! Requests in a closed loop: a client waits for the responses to a request, thinks, and sends the
//! next.
//!
//! A client has as many slots as requests under way. A flow's index is twice that of its slot, and
//! one more for a response.

use std::collections::BTreeMap;

use heddle_scenario::{Pattern, Requests};
use heddle_units::{Bytes, Time};

use super::{NewFlow, other_than, shuffled};
use crate::outcome::RequestRecord;
use crate::random::Random;

/// The state of all clients.
pub(crate) struct ClosedLoop {
    requests: Requests,
    servers: Servers,
    random: Random,
    slots: Vec<Slot>,
    /// Flows to start, by time and order.
    due: BTreeMap<(Time, u64), NewFlow>,
    scheduled: u64,
    finished: Vec<RequestRecord>,
}

/// The servers that clients ask.
enum Servers {
    /// Drawn among these for each request.
    Drawn(Vec<u32>),
    /// Of each client one, drawn once.
    Paired(BTreeMap<u32, u32>),
}

struct Slot {
    client: u32,
    /// Start of the request.
    start: Time,
    /// Responses that have not arrived.
    missing: u32,
}

impl ClosedLoop {
    /// Clients that think for the first time at `start`.
    pub(super) fn new(requests: &Requests, start: Time, mut random: Random) -> ClosedLoop {
        let each = 0..requests.outstanding;
        let slot = |client| Slot { client, start, missing: 0 };
        let (clients, servers) = ends(&requests.pattern, &mut random);
        let slots = clients.iter().flat_map(|&client| each.clone().map(move |_| client));
        let mut clients = ClosedLoop {
            slots: slots.map(slot).collect(),
            requests: requests.clone(),
            servers,
            random,
            due: BTreeMap::new(),
            scheduled: 0,
            finished: Vec::new(),
        };
        for slot in 0..clients.slots.len() {
            clients.think(start, slot);
        }
        clients
    }

    /// Schedules the next request of a slot.
    fn think(&mut self, now: Time, slot: usize) {
        let mean = self.requests.think.as_secs_f64();
        let pause = if mean > 0.0 { self.random.exponential(mean) } else { 0.0 };
        let at = now + Time((pause * 1e12) as u64);
        let client = self.slots[slot].client;
        let servers = self.draw_servers(client);
        (self.slots[slot].start, self.slots[slot].missing) = (at, servers.len() as u32);
        for server in servers {
            let (size, index) = (self.requests.request_size, 2 * slot as u32);
            self.schedule(at, (client, server), size, index);
        }
    }

    /// Different servers, none of them the client.
    fn draw_servers(&mut self, client: u32) -> Vec<u32> {
        let wanted = self.requests.fan_out as usize;
        let servers = match &self.servers {
            Servers::Drawn(servers) => servers,
            Servers::Paired(pairs) => return pairs.get(&client).copied().into_iter().collect(),
        };
        if wanted == 1 {
            return vec![other_than(client, servers, &mut self.random)];
        }
        let others = servers.iter().copied().filter(|&server| server != client);
        let mut others: Vec<u32> = others.collect();
        super::draw_first(&mut others, wanted, &mut self.random)
    }

    fn schedule(&mut self, at: Time, (from, to): (u32, u32), size: Bytes, index: u32) {
        let connections = self.requests.connections;
        let flow = NewFlow { from, to, size, connections, workload: 0, index };
        self.due.insert((at, self.scheduled), flow);
        self.scheduled += 1;
    }

    pub(super) fn next_at(&self) -> Time {
        self.due.first_key_value().map_or(Time::NEVER, |((at, _), _)| *at)
    }

    pub(super) fn arrive(&mut self) -> Option<NewFlow> {
        self.due.pop_first().map(|(_, flow)| flow)
    }

    /// A request or a response has arrived: from one host at another.
    pub(super) fn finished(&mut self, now: Time, (from, to): (u32, u32), index: u32) {
        let slot = (index / 2) as usize;
        if index.is_multiple_of(2) {
            let size = Bytes(self.requests.sizes.quantile(self.random.unit()).max(1.0) as u64);
            return self.schedule(now, (to, from), size, index + 1);
        }
        let Some(state) = self.slots.get_mut(slot) else { return };
        state.missing = state.missing.saturating_sub(1);
        if state.missing == 0 {
            let (client, start) = (state.client, state.start);
            self.finished.push(RequestRecord { workload: 0, client, start, time: now - start });
            self.think(now, slot);
        }
    }

    /// The requests that were answered.
    pub(super) fn records(&self) -> &[RequestRecord] {
        &self.finished
    }
}

/// The clients, and the servers that they ask.
fn ends<'a>(pattern: &'a Pattern, random: &mut Random) -> (&'a [u32], Servers) {
    match pattern {
        Pattern::Sets { clients, servers } => (clients, Servers::Drawn(servers.clone())),
        Pattern::Pairs { clients, servers } => {
            let pairs = clients.iter().copied().zip(shuffled(servers, random));
            (clients, Servers::Paired(pairs.collect()))
        }
        Pattern::Permutation | Pattern::Incast { .. } => (&[], Servers::Drawn(Vec::new())),
    }
}
