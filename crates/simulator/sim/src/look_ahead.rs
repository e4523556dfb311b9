//! Prefetching of the memory that the next events will read.
//!
//! In a large fabric most of the time of a hop is spent waiting for memory: the port, its packet,
//! the packet behind it, the next port, the packet at its tail. The events of the current slot are
//! known, so each of these can be prefetched a few events ahead: the nearer the event, the later in
//! this chain. Nothing here changes a result; a wrong prediction costs time only.

use heddle_fabric::Fabric;
use heddle_policy::Scheme;

use crate::engine::{Event, prefetch};
use crate::hosts::Hosts;
use crate::network::{Network, PacketKind};
use crate::switching::Switching;

/// Number of ports above which a fabric does not fit into the cache of a core.
const LARGE: usize = 2048;

/// Distance in events at which each item of the chain is prefetched.
const PORT: usize = 14;
const PACKET: usize = 10;
const ROUTE: usize = 7;
const NEXT_PORT: usize = 4;
const TAIL: usize = 2;

/// State of the prefetcher.
pub(crate) struct LookAhead {
    is_large: bool,
    /// Predicted output ports of the next events, by event modulo the length.
    guesses: [u32; 8],
    steps: usize,
}

/// Structures that are prefetched.
pub(crate) struct PrefetchView<'a, S: Scheme> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) switching: &'a Switching<S>,
    pub(crate) network: &'a Network,
    pub(crate) hosts: &'a Hosts,
}

impl LookAhead {
    pub(crate) fn new(fabric: &Fabric) -> LookAhead {
        LookAhead { is_large: fabric.ports.len() > LARGE, guesses: [u32::MAX; 8], steps: 0 }
    }

    /// Prefetches for the next events. Called once for each event.
    #[inline]
    pub(crate) fn step<S: Scheme>(&mut self, view: &PrefetchView<S>) {
        if self.is_large {
            self.prefetch_upcoming(view);
        }
    }

    fn prefetch_upcoming<S: Scheme>(&mut self, view: &PrefetchView<S>) {
        let network = view.network;
        self.steps = self.steps.wrapping_add(1);
        if let Some(Event::Arrival(port)) = network.events.peek(PORT) {
            prefetch(&network.ports, port);
            prefetch(&network.priority_queues, port);
        }
        if let Some(Event::Arrival(port)) = network.events.peek(PACKET) {
            prefetch(&network.packets.hot, network.ports[port as usize].head);
        }
        if let Some(Event::Arrival(port)) = network.events.peek(ROUTE) {
            view.prefetch_route(port);
        }
        let guess = match network.events.peek(NEXT_PORT) {
            Some(Event::Arrival(port)) => view.next_port(port),
            _ => u32::MAX,
        };
        prefetch(&network.ports, guess);
        self.guesses[(self.steps + NEXT_PORT) % 8] = guess;
        let near = self.guesses[(self.steps + TAIL) % 8];
        if let Some(port) = network.ports.get(near as usize) {
            prefetch(&network.packets.hot, port.tail);
        }
    }
}

impl<S: Scheme> PrefetchView<'_, S> {
    /// Prefetches the route of the packet arriving on `port`, or at a host its connection.
    fn prefetch_route(&self, port: u32) {
        let here = &self.network.ports[port as usize];
        let Some(hot) = self.network.packets.hot.get(here.head as usize) else { return };
        prefetch(&self.network.packets.hot, hot.next);
        if here.to < self.fabric.hosts {
            prefetch(&self.network.packets.body, here.head);
            self.hosts.prefetch(hot.connection);
        } else {
            let routes = &self.switching.routes;
            let (table, place) = routes.place(here.to - self.fabric.hosts, hot.dst_tor);
            prefetch(table, place);
        }
    }

    /// Predicted output port of the packet arriving on `port`.
    fn next_port(&self, port: u32) -> u32 {
        let here = &self.network.ports[port as usize];
        let Some(hot) = self.network.packets.hot.get(here.head as usize) else { return u32::MAX };
        if here.to < self.fabric.hosts {
            return self.fabric.first_port[here.to as usize];
        }
        if hot.kind == PacketKind::Probe {
            return u32::MAX;
        }
        let switch = here.to - self.fabric.hosts;
        self.switching.predict(self.fabric, switch, hot).unwrap_or(u32::MAX)
    }
}
