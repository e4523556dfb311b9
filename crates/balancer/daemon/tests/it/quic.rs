//! QUIC by connection id, with quinn at both ends: clients change their addresses and ports in the
//! middle of transfers.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{LIMIT, PORT, ask, setup, wait_for_backend};
use heddle_lab::{Daemons, Lab, Node, Transport, eventually};
use heddle_testing::{Need, skip_without};
use heddle_wire::quic::ServerIds;
use heddled::admin::{Packet, QuicPacket, Reply, Request};
use heddled::hex;
use heddled::service::Protocol;
use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use quinn::{
    ClientConfig, ConnectionId, ConnectionIdGenerator, Endpoint, EndpointConfig, ServerConfig,
    TokioRuntime, TransportConfig, VarInt,
};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

const BACKENDS: usize = 3;
const BALANCERS: usize = 2;
/// Of 12 connections, each of which moves to another backend two times in three, none does once in
/// half a million runs.
const CONNECTIONS: usize = 12;
/// Changes of each client's address and port.
const MOVES: usize = 12;
/// Bytes that each connection carries between two changes, at least.
const STEP: u64 = 200_000;
/// The name in the servers' certificate.
const NAME: &str = "localhost";

fn ids() -> ServerIds {
    ServerIds::new(2, 2).unwrap()
}

fn server_id(backend: usize) -> [u8; 2] {
    [0xa0, backend as u8]
}

/// Connection ids as the draft has them, with a nonce of eight random bytes.
struct Generator {
    server_id: [u8; 2],
}

impl ConnectionIdGenerator for Generator {
    fn generate_cid(&mut self) -> ConnectionId {
        let mut id = [0; 11];
        getrandom::fill(&mut id).unwrap();
        id[0] = ids().rotation() << 5 | id[0] & 0x1f;
        id[1..3].copy_from_slice(&self.server_id);
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        11
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

/// The servers' certificate, which clients trust.
struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    fn new() -> Identity {
        let made = rcgen::generate_simple_self_signed([NAME.to_owned()]).unwrap();
        Identity { certificate: made.cert.into(), key: made.signing_key.serialize_der().into() }
    }

    fn server(&self) -> ServerConfig {
        let key = PrivateKeyDer::Pkcs8(self.key.clone_key());
        ServerConfig::with_single_cert(vec![self.certificate.clone()], key).unwrap()
    }

    /// A client that takes a server for gone after `idle`.
    fn client(&self, idle: Duration) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.certificate.clone()).unwrap();
        let mut transport = TransportConfig::default();
        transport.max_idle_timeout(Some(idle.try_into().unwrap()));
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
        config.transport_config(Arc::new(transport));
        config
    }
}

/// A socket on a host. It stays there.
fn socket(node: &Node, address: IpAddr) -> UdpSocket {
    node.enter(|| UdpSocket::bind((address, 0))).unwrap().unwrap()
}

fn endpoint(socket: UdpSocket, config: EndpointConfig, server: Option<ServerConfig>) -> Endpoint {
    Endpoint::new(config, server, socket, Arc::new(TokioRuntime)).unwrap()
}

/// A server of a backend: it tells its number, and then sends zeros for as long as it may.
async fn serve(endpoint: Endpoint, backend: usize, accepted: Arc<AtomicUsize>) {
    while let Some(incoming) = endpoint.accept().await {
        accepted.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            let connection = incoming.await?;
            while let Ok((mut send, _)) = connection.accept_bi().await {
                tokio::spawn(async move {
                    send.write_all(&[backend as u8]).await?;
                    while send.write_all(&[0; 16_384]).await.is_ok() {}
                    Ok::<(), quinn::WriteError>(())
                });
            }
            Ok::<(), quinn::ConnectionError>(())
        });
    }
}

/// Servers at each backend, on both addresses of the service; the connections that each has
/// accepted.
fn servers(lab: &Lab, identity: &Identity) -> Vec<Arc<AtomicUsize>> {
    let start = |(backend, node): (usize, &Node)| {
        let accepted = Arc::new(AtomicUsize::new(0));
        for vip in lab.vips() {
            let bind = || UdpSocket::bind((vip, PORT));
            let socket = node.enter(bind).unwrap().unwrap();
            let mut config = EndpointConfig::default();
            config.cid_generator(move || Box::new(Generator { server_id: server_id(backend) }));
            let endpoint = endpoint(socket, config, Some(identity.server()));
            tokio::spawn(serve(endpoint, backend, accepted.clone()));
        }
        accepted
    };
    lab.backends().iter().enumerate().map(start).collect()
}

/// A client with one connection, that downloads without end.
struct Client {
    endpoint: Endpoint,
    connection: quinn::Connection,
    received: Arc<AtomicU64>,
    download: JoinHandle<quinn::ReadError>,
    backend: u8,
}

impl Client {
    async fn open(lab: &Lab, vip: IpAddr, config: ClientConfig) -> Client {
        let address = lab.client_addresses(vip)[0];
        let endpoint = endpoint(socket(lab.client(), address), EndpointConfig::default(), None);
        let to = SocketAddr::new(vip, PORT);
        let connection = endpoint.connect_with(config, to, NAME).unwrap().await.unwrap();
        let (mut send, mut receive) = connection.open_bi().await.unwrap();
        send.write_all(b"go").await.unwrap();
        let mut backend = [0];
        receive.read_exact(&mut backend).await.unwrap();
        let received = Arc::new(AtomicU64::new(0));
        let so_far = received.clone();
        let download = tokio::spawn(async move {
            loop {
                match receive.read_chunk(1 << 20, true).await {
                    Ok(Some(chunk)) => {
                        so_far.fetch_add(chunk.bytes.len() as u64, Ordering::Relaxed);
                    }
                    Ok(None) => return quinn::ReadError::ClosedStream,
                    Err(error) => return error,
                }
            }
        });
        Client { endpoint, connection, received, download, backend: backend[0] }
    }

    /// Goes on from another port, of the client's own address of this number.
    fn move_to(&self, lab: &Lab, address: usize) {
        let source = lab.client_addresses(self.connection.remote_address().ip())[address];
        self.endpoint.rebind(socket(lab.client(), source)).unwrap();
    }

    /// The backend that answers now.
    async fn backend(&self) -> u8 {
        let (mut send, mut receive) = self.connection.open_bi().await.unwrap();
        send.write_all(b"go").await.unwrap();
        let mut backend = [0];
        receive.read_exact(&mut backend).await.unwrap();
        receive.stop(VarInt::from_u32(0)).unwrap();
        backend[0]
    }
}

/// The configuration with UDP services, whose backends have server ids if `by_id`.
fn config(text: &str, by_id: bool) -> String {
    let (rotation, length) = (ids().rotation(), ids().length());
    let quic = format!("quic = {{ config_rotation = {rotation}, server_id_length = {length} }}\n");
    let port = format!("port = {PORT}\n");
    let quic = if by_id { quic } else { String::new() };
    let mut text = text
        .replace(&port, &format!("{port}protocol = \"udp\"\n{quic}"))
        .replace("health = {", &format!("health = {{ port = {PORT},"));
    for backend in (0..BACKENDS).filter(|_| by_id) {
        let name = format!("name = \"backend-{backend}\"\n");
        let id = hex::text(&server_id(backend));
        text = text.replace(&name, &format!("{name}server_id = \"{id}\"\n"));
    }
    text
}

fn reload(daemons: &Daemons<'_>, change: impl Fn(&str) -> String) {
    for balancer in 0..BALANCERS {
        daemons.write_config(balancer, &change(&daemons.config(balancer))).unwrap();
        assert!(matches!(ask(daemons, balancer, &Request::Reload), Reply::Reloaded(_)));
    }
}

fn lab() -> Lab {
    Lab::builder().balancers(BALANCERS).backends(BACKENDS).clients(2).build().unwrap()
}

/// Clients of both families: [`CONNECTIONS`], and more until each backend has one, since ports are
/// drawn and twelve flows miss one of three backends once in 43 times.
fn clients(lab: &Lab, runtime: &Runtime, identity: &Identity, idle: Duration) -> Vec<Client> {
    let vips = lab.vips();
    let open = |number: usize| {
        runtime.block_on(Client::open(lab, vips[number % 2], identity.client(idle)))
    };
    let mut clients: Vec<Client> = (0..CONNECTIONS).map(open).collect();
    let all_serve = |clients: &[Client]| {
        (0..BACKENDS as u8).all(|backend| clients.iter().any(|client| client.backend == backend))
    };
    while !all_serve(&clients) {
        assert!(clients.len() < 10 * CONNECTIONS, "a backend gets no connections");
        clients.push(open(clients.len()));
    }
    clients
}

/// Waits until each connection has carried [`STEP`] bytes more.
fn go_on(clients: &[Client]) {
    let received = |client: &Client| client.received.load(Ordering::Relaxed);
    let before: Vec<u64> = clients.iter().map(received).collect();
    let probe = || {
        let behind = clients.iter().zip(&before).find(|(c, so_far)| received(c) < *so_far + STEP);
        behind.map_or(Ok(()), |(client, _)| {
            Err(format!("{:?} stands still", client.connection.stats().path))
        })
    };
    eventually(LIMIT, probe).unwrap();
}

#[test]
fn connections_stay_with_their_backend_while_their_clients_move() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = lab();
    let _checked = lab.serve(Transport::Tcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("off", "l2")).unwrap();
    reload(&daemons, |text| config(text, true));
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let identity = Identity::new();
    let accepted = servers(&lab, &identity);
    let clients = clients(&lab, &runtime, &identity, LIMIT);
    for step in 0..MOVES {
        go_on(&clients);
        if step == MOVES / 2 {
            drain(&daemons);
        }
        clients.iter().for_each(|client| client.move_to(&lab, step % 2));
    }
    go_on(&clients);
    for client in &clients {
        assert_eq!(runtime.block_on(client.backend()), client.backend);
        assert!(!client.download.is_finished());
    }
    let handshakes: usize = accepted.iter().map(|count| count.load(Ordering::Relaxed)).sum();
    assert_eq!(handshakes, clients.len(), "no other connection was opened");
    let late = runtime.block_on(Client::open(&lab, lab.vips()[0], identity.client(LIMIT)));
    assert_ne!(late.backend, 0, "it drains");
    explains(&daemons, lab.vips()[0]);
}

/// The first backend drains at all balancers, while its connections go on and move.
fn drain(daemons: &Daemons<'_>) {
    let name = "name = \"backend-0\"\n";
    reload(daemons, |text| config(text, true).replace(name, &format!("{name}state = \"drain\"\n")));
    wait_for_backend(daemons, BALANCERS, "backend-0", |backend| backend.draining);
}

/// The daemon says where a packet goes.
fn explains(daemons: &Daemons<'_>, vip: IpAddr) {
    let connection_id = format!("47{}0102030405060708", hex::text(&server_id(0)));
    let packet = Packet {
        source: (if vip.is_ipv4() { "198.51.100.7:4000" } else { "[2001:db8::7]:4000" })
            .parse()
            .unwrap(),
        destination: SocketAddr::new(vip, PORT),
        protocol: Protocol::Udp,
        flags: 0,
        mptcp: None,
        quic: Some(QuicPacket::Short { connection_id }),
        payload: 0,
    };
    let Reply::Explained(explained) = ask(daemons, 0, &Request::Explain(packet)) else { panic!() };
    let told = (explained.verdict.as_str(), explained.backend.as_deref());
    assert_eq!(told, ("sent_quic", Some("backend-0")), "{explained:?}");
}

/// The control: by flow, a client that moves reaches another backend two times in three, which does
/// not know its connection.
#[test]
fn without_quic_connections_break_when_their_clients_move() {
    if skip_without(Need::Root) {
        return;
    }
    let lab = lab();
    let _checked = lab.serve(Transport::Tcp, PORT).unwrap();
    let daemons = Daemons::start(&lab, setup("off", "l2")).unwrap();
    reload(&daemons, |text| config(text, false));
    let runtime = Runtime::new().unwrap();
    let _inside = runtime.enter();
    let identity = Identity::new();
    let _accepted = servers(&lab, &identity);
    let clients = clients(&lab, &runtime, &identity, Duration::from_secs(20));
    go_on(&clients);
    clients.iter().for_each(|client| client.move_to(&lab, 1));
    let broken = || clients.iter().any(|client| client.download.is_finished());
    eventually(LIMIT, || if broken() { Ok(()) } else { Err("all go on".into()) }).unwrap();
}
