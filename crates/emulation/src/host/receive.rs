//! The receiving side: every byte of every flow, compared with what was sent.

use std::io;
use std::rc::Rc;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;

use super::payload::CHUNK;
use super::{Report, Shared, UNBOUNDED};
use crate::clock;

/// Accepts connections for ever.
pub(super) async fn accept(listener: TcpListener, shared: Rc<Shared>) {
    loop {
        // A connection that is gone before it is accepted is its sender's to report.
        if let Ok((stream, _)) = listener.accept().await {
            let shared = shared.clone();
            spawn_local(async move {
                let _ = receive(stream, &shared).await;
            });
        }
    }
}

/// Receives flows until the sender closes the connection.
async fn receive(mut stream: TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; CHUNK];
    loop {
        let id = stream.read_u64().await?;
        let size = stream.read_u64().await?;
        let intact = receive_flow(&mut stream, (id, size), &mut buffer, shared).await?;
        shared.open.borrow_mut().remove(&id);
        if size != UNBOUNDED {
            shared.report(Report::Received { id, at: clock::now(), intact });
            stream.write_all(&[u8::from(intact)]).await?;
        }
    }
}

/// Reads one flow's payload; true if every byte was as sent.
async fn receive_flow(
    stream: &mut TcpStream,
    (id, size): (u64, u64),
    buffer: &mut [u8],
    shared: &Shared,
) -> io::Result<bool> {
    let (mut offset, mut intact) = (0, true);
    while offset < size {
        let most = (size - offset).min(CHUNK as u64) as usize;
        let read = stream.read(&mut buffer[..most]).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        intact &= buffer[..read] == *shared.pattern.at(id, offset, read as u64);
        offset += read as u64;
        shared.count(id, read as u64);
    }
    Ok(intact)
}
