//! Asking the processor for what the next events will read, before they come.
//!
//! In a large fabric most of a hop's time is spent waiting for memory: the port, its packet, the packet behind, the next
//! port, the packet at its tail. The events of the current slot are known, so each of these can be asked for a few events
//! ahead, the nearer the event the further down that chain. Nothing here changes a result: a wrong guess costs only time.

use heddle_fabric::Fabric;
use heddle_policy::Scheme;
use heddle_transport::Connection;

use crate::engine::{Event, prefetch};
use crate::hosts::Hosts;
use crate::network::{Network, PacketKind};
use crate::switching::Switching;

/// Ports from which on a fabric does not fit into a core's cache.
const LARGE: usize = 2048;

/// How many events ahead each link of the chain is asked for.
const PORT: usize = 14;
const PACKET: usize = 10;
const ROUTE: usize = 7;
const NEXT_PORT: usize = 4;
const TAIL: usize = 2;

/// What has been asked for.
pub(crate) struct LookAhead {
    is_large: bool,
    /// Guesses of the ports that the next events will send on, by event modulo its length.
    guesses: [u32; 8],
    steps: usize,
}

/// What may be read ahead.
pub(crate) struct PrefetchView<'a, S: Scheme, C: Connection> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) switching: &'a Switching<S>,
    pub(crate) network: &'a Network,
    pub(crate) hosts: &'a Hosts<C>,
}

impl LookAhead {
    pub(crate) fn new(fabric: &Fabric) -> LookAhead {
        LookAhead { is_large: fabric.ports.len() > LARGE, guesses: [u32::MAX; 8], steps: 0 }
    }

    /// Called once an event.
    #[inline]
    pub(crate) fn step<S: Scheme, C: Connection>(&mut self, view: &PrefetchView<S, C>) {
        if self.is_large {
            self.prefetch_upcoming(view);
        }
    }

    fn prefetch_upcoming<S: Scheme, C: Connection>(&mut self, view: &PrefetchView<S, C>) {
        let network = view.network;
        self.steps = self.steps.wrapping_add(1);
        if let Some(Event::Arrival(port)) = network.events.peek(PORT) {
            prefetch(&network.ports, port);
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

impl<S: Scheme, C: Connection> PrefetchView<'_, S, C> {
    /// Asks for what says where the packet arriving on `port` goes: a route, or at a host its connection.
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

    /// The port that the packet arriving on `port` will probably leave by.
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
