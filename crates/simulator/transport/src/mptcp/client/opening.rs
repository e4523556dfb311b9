//! The client's part of the handshakes (RFC 8684 sections 3.1 and 3.2).

use core::mem;

use heddle_wire::Version;

use super::Client;
use crate::mptcp::handshake::Handshake;
use crate::mptcp::secrets::Nonces;
use crate::mptcp::subflow::{Opening, Subflow, confirm};
use crate::mptcp::subflows::Standing;
use crate::mptcp::{Context, JoinTime};
use crate::{Kind, Options, Segment};

impl Client {
    /// The third packet of the first subflow's handshake.
    #[inline]
    pub(super) fn next_keys(&mut self, with: &Context) -> Option<(usize, Segment)> {
        if !mem::take(&mut self.keys_due) {
            return None;
        }
        Some((0, confirm(self.keys(with)?, with.now)))
    }

    /// SYNs, and the third packets of joins.
    #[inline]
    pub(super) fn next_opening(&mut self, with: &Context) -> Option<(usize, Segment)> {
        if self.subflows.len() == 0 && self.written > 0 {
            self.subflows.push(with.subflow, Subflow::new(with.subflow, 0));
        }
        let (path, segment) =
            self.subflows.first_of(Standing::Opening, with.subflow, |subflow| {
                subflow.next_opening(with.subflow, with.now)
            })?;
        Some((path, self.asking(with, path, segment)))
    }

    /// Puts the option onto a SYN.
    fn asking(&self, with: &Context, path: usize, segment: Segment) -> Segment {
        if segment.kind != Kind::Syn {
            return segment;
        }
        let version = with.config.version;
        let handshake = match (path, version, self.server_key) {
            (0, Version::V0, _) => Handshake::Key(with.secrets.client),
            (0, Version::V1, _) | (_, _, None) => Handshake::Capable,
            (_, _, Some(key)) => Handshake::Join(version.token(key), self.subflows.get(path).nonce),
        };
        Segment { options: Options::Mptcp(handshake), ..segment }
    }

    fn keys(&self, with: &Context) -> Option<Handshake> {
        self.server_key.map(|key| Handshake::Keys(with.secrets.client, key))
    }

    /// With RFC 8684 the first data carries both keys, in case the third packet is lost.
    #[inline]
    pub(super) fn with_keys(&self, with: &Context, path: usize, segment: Segment) -> Segment {
        if segment.seq > 0 || path > 0 || with.config.version == Version::V0 {
            return segment;
        }
        let options = self.keys(with).map_or(Options::None, Options::Mptcp);
        Segment { options, ..segment }
    }

    pub(super) fn on_syn_ack(&mut self, with: &Context, path: usize, answer: &Segment) {
        if self.subflows.get(path).opening != Opening::Asking {
            return;
        }
        match (path, answer.options) {
            (0, Options::Mptcp(Handshake::Key(key))) => {
                self.server_key = Some(key);
                self.keys_due = true;
                self.note_data_ack(answer);
                self.subflows.change(with.subflow, 0, |subflow| {
                    subflow.opening = Opening::Open;
                    subflow.on_ack(with.subflow, with.now, answer);
                });
                self.coupled.add(0, &self.subflows.get(0).sender);
                self.join(with, JoinTime::AtOnce);
            }
            (_, Options::Mptcp(Handshake::JoinAnswer(hmac, nonce))) => {
                self.on_join_answer(with, path, answer, (hmac, nonce));
            }
            _ => {}
        }
    }

    /// The server's half of a join: it has to prove that it knows both keys.
    fn on_join_answer(
        &mut self,
        with: &Context,
        path: usize,
        answer: &Segment,
        (hmac, nonce): ([u8; 8], u32),
    ) {
        let Some(server_key) = self.server_key else { return };
        let nonces = Nonces { client: self.subflows.get(path).nonce, server: nonce };
        let keys = (with.secrets.client, server_key);
        if nonces.server_proof(with.config.version, keys) != hmac {
            return;
        }
        let proof = Handshake::JoinProof(nonces.client_proof(with.config.version, keys));
        self.subflows.change(with.subflow, path, |subflow| {
            subflow.on_ack(with.subflow, with.now, answer);
            subflow.opening = Opening::Proving { proof, at: with.now, wait: subflow.sender.rto() };
        });
    }

    /// The fourth packet of a join: now data may be sent.
    pub(super) fn on_proof_taken(&mut self, with: &Context, path: usize, answer: &Segment) {
        if matches!(self.subflows.get(path).opening, Opening::Proving { .. }) {
            self.subflows.change(with.subflow, path, |subflow| subflow.opening = Opening::Open);
            self.coupled.add(path, &self.subflows.get(path).sender);
            self.note_data_ack(answer);
        }
    }

    /// Opens the further subflows, if this is the time for it.
    pub(super) fn join(&mut self, with: &Context, time: JoinTime) {
        if with.config.join != time {
            return;
        }
        for path in 1..usize::from(with.config.subflows) {
            let subflow = Subflow::new(with.subflow, with.secrets.client_nonce(path));
            self.subflows.push(with.subflow, subflow);
        }
    }
}
