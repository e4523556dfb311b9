//! The sending side: a connection for each flow, or persistent ones that flows share.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::rc::Rc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::spawn_local;

use super::payload::CHUNK;
use super::{Flow, Protocol, Report, Shared, UNBOUNDED, sockets};
use crate::clock;

/// A flow, and the nanoseconds by which it started late.
type Started = (Flow, u64);

/// Flows that wait for the receiver's answers, in order.
type Pending = Rc<RefCell<std::collections::VecDeque<(u64, u64)>>>;

/// The persistent connections of a host, by receiver and number.
#[derive(Default)]
pub(super) struct Sender {
    connections: BTreeMap<(Ipv4Addr, u32), UnboundedSender<Started>>,
}

impl Sender {
    /// Starts a flow that is due.
    pub(super) fn start(&mut self, flow: Flow, protocol: Protocol, shared: &Rc<Shared>) {
        let late = clock::now().saturating_sub(flow.at);
        let open = |to: Ipv4Addr| {
            let (flows, queue) = unbounded_channel();
            spawn_local(serve(to, protocol, queue, shared.clone()));
            flows
        };
        let flows = match flow.connection {
            None => open(flow.to),
            Some(number) => {
                self.connections.entry((flow.to, number)).or_insert_with(|| open(flow.to)).clone()
            }
        };
        // A connection that broke has reported its flows; what comes later on it is reported as
        // unfinished.
        let _ = flows.send((flow, late));
    }
}

/// Opens a connection and sends flows on it, one behind the other, until nobody has more.
async fn serve(
    to: Ipv4Addr,
    protocol: Protocol,
    mut flows: UnboundedReceiver<Started>,
    shared: Rc<Shared>,
) {
    let mut current = None;
    if let Err(error) = send_all(to, protocol, &mut flows, &mut current, &shared).await {
        let rest = std::iter::from_fn(|| flows.try_recv().ok().map(|(flow, _)| flow.id));
        for id in current.into_iter().chain(rest) {
            shared.report(Report::Broken { id, error: error.to_string() });
        }
    }
}

async fn send_all(
    to: Ipv4Addr,
    protocol: Protocol,
    flows: &mut UnboundedReceiver<Started>,
    current: &mut Option<u64>,
    shared: &Rc<Shared>,
) -> io::Result<()> {
    let Some(mut next) = flows.recv().await else { return Ok(()) };
    *current = Some(next.0.id);
    let (reader, mut writer) = sockets::connect(to, protocol).await?.into_split();
    let pending = Pending::default();
    let confirmations = spawn_local(confirm(reader, protocol, pending.clone(), shared.clone()));
    loop {
        pending.borrow_mut().push_back((next.0.id, next.1));
        send(&mut writer, &next.0, shared).await?;
        *current = None;
        match flows.recv().await {
            Some(flow) => next = flow,
            None => break,
        }
        *current = Some(next.0.id);
    }
    while !pending.borrow().is_empty() && !confirmations.is_finished() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    writer.shutdown().await
}

async fn send(writer: &mut OwnedWriteHalf, flow: &Flow, shared: &Shared) -> io::Result<()> {
    let size = flow.size.unwrap_or(UNBOUNDED);
    let first = shared.pattern.at(flow.id, 0, size);
    let head = [&flow.id.to_be_bytes(), &size.to_be_bytes(), first].concat();
    writer.write_all(&head).await?;
    let mut offset = first.len() as u64;
    while offset < size {
        let chunk = shared.pattern.at(flow.id, offset, size - offset);
        writer.write_all(chunk).await?;
        offset += (chunk.len() as u64).min(CHUNK as u64);
    }
    Ok(())
}

/// Reads the receiver's answers, and reports each flow with the subflows that carried it.
async fn confirm(
    mut reader: OwnedReadHalf,
    protocol: Protocol,
    pending: Pending,
    shared: Rc<Shared>,
) {
    while reader.read_u8().await.is_ok() {
        let Some((id, late)) = pending.borrow_mut().pop_front() else { return };
        let subflows = sockets::subflows(reader.as_ref(), protocol);
        shared.report(Report::Sent { id, late, subflows });
    }
}
