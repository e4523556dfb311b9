//! Handshakes at the client (RFC 8684 sections 3.1 and 3.2).

use core::mem;

use heddle_wire::Version;

use super::Client;
use crate::mptcp::secrets::Nonces;
use crate::mptcp::status::SubflowPhase;
use crate::mptcp::subflow::{Subflow, SubflowState, handshake_ack};
use crate::mptcp::{Context, Handshake, JoinTime};
use crate::{Kind, Options, Segment};

impl Client {
    /// The third packet of the first subflow's handshake.
    #[inline]
    pub(super) fn next_handshake_ack(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        if !mem::take(&mut self.handshake_ack_due) {
            return None;
        }
        Some((0, handshake_ack(self.keys(cx)?, cx.now)))
    }

    /// SYNs, and the third packets of joins.
    #[inline]
    pub(super) fn next_handshake_segment(&mut self, cx: &Context) -> Option<(usize, Segment)> {
        if self.subflows.len() == 0 && self.written > 0 {
            self.subflows.push(cx.subflow, Subflow::new(cx.subflow, 0));
        }
        let (path, segment) =
            self.subflows.find_map_in(SubflowPhase::Handshake, cx.subflow, |subflow| {
                subflow.next_handshake_segment(cx.subflow, cx.now)
            })?;
        Some((path, self.with_handshake(cx, path, segment)))
    }

    /// Adds the MPTCP option to a SYN.
    fn with_handshake(&self, cx: &Context, path: usize, segment: Segment) -> Segment {
        if segment.kind != Kind::Syn {
            return segment;
        }
        let version = cx.config.version;
        let handshake = match (path, version, self.server_key) {
            (0, Version::V0, _) => Handshake::Key(cx.secrets.client),
            (0, Version::V1, _) | (_, _, None) => Handshake::Capable,
            (_, _, Some(key)) => {
                Handshake::JoinSyn(version.token(key), self.subflows.get(path).nonce)
            }
        };
        Segment { options: Options::Mptcp(handshake), ..segment }
    }

    fn keys(&self, cx: &Context) -> Option<Handshake> {
        self.server_key.map(|key| Handshake::Keys(cx.secrets.client, key))
    }

    /// Adds both keys to the first data segment, in case the third packet is lost (RFC 8684 section
    /// 3.1).
    #[inline]
    pub(super) fn with_keys(&self, cx: &Context, path: usize, segment: Segment) -> Segment {
        if segment.seq > 0 || path > 0 || cx.config.version == Version::V0 {
            return segment;
        }
        let options = self.keys(cx).map_or(Options::None, Options::Mptcp);
        Segment { options, ..segment }
    }

    pub(super) fn on_syn_ack(&mut self, cx: &Context, path: usize, ack: &Segment) {
        if self.subflows.get(path).state != SubflowState::SynSent {
            return;
        }
        match (path, ack.options) {
            (0, Options::Mptcp(Handshake::Key(key))) => {
                self.server_key = Some(key);
                self.handshake_ack_due = true;
                self.update_data_ack(ack);
                self.subflows.update(cx.subflow, 0, |subflow| {
                    subflow.state = SubflowState::Established;
                    subflow.on_ack(cx.subflow, cx.now, ack);
                });
                self.path_states.add(0, &self.subflows.get(0).sender);
                // A server of version 1 learns the client's key with the third packet or the first
                // data, which a join would overtake.
                if (cx.config.join, cx.config.version) == (JoinTime::AtOnce, Version::V0) {
                    self.join(cx);
                }
            }
            (_, Options::Mptcp(Handshake::JoinSynAck(hmac, nonce))) => {
                self.on_join_syn_ack(cx, path, ack, (hmac, nonce));
            }
            _ => {}
        }
    }

    /// Checks the server's HMAC in a join's SYN/ACK, then authenticates with the client's.
    fn on_join_syn_ack(
        &mut self,
        cx: &Context,
        path: usize,
        ack: &Segment,
        (hmac, nonce): ([u8; 8], u32),
    ) {
        let Some(server_key) = self.server_key else { return };
        let nonces = Nonces { client: self.subflows.get(path).nonce, server: nonce };
        let keys = (cx.secrets.client, server_key);
        if nonces.server_hmac(cx.config.version, keys) != hmac {
            return;
        }
        let hmac = Handshake::JoinAck(nonces.client_hmac(cx.config.version, keys));
        self.subflows.update(cx.subflow, path, |subflow| {
            subflow.on_ack(cx.subflow, cx.now, ack);
            subflow.state =
                SubflowState::Authenticating { hmac, at: cx.now, wait: subflow.sender.rto() };
        });
    }

    /// Handles the fourth packet of a join: the subflow is established.
    pub(super) fn on_join_confirmed(&mut self, cx: &Context, path: usize, ack: &Segment) {
        if matches!(self.subflows.get(path).state, SubflowState::Authenticating { .. }) {
            self.subflows
                .update(cx.subflow, path, |subflow| subflow.state = SubflowState::Established);
            self.path_states.add(path, &self.subflows.get(path).sender);
            self.update_data_ack(ack);
        }
    }

    /// Opens the further subflows.
    pub(super) fn join(&mut self, cx: &Context) {
        for path in 1..usize::from(cx.config.subflows) {
            let subflow = Subflow::new(cx.subflow, cx.secrets.client_nonce(path));
            self.subflows.push(cx.subflow, subflow);
        }
    }
}
