//! Encodings per second for a pair with seven paths: in process, by gRPC and by HTTP. Then the time
//! to open a connection, for a pair with seven paths, and in a fat-tree of switches with 32 ports.
//!
//! `cargo bench -p heddle-path-service` prints one line for each way. Clients and service share the
//! machine.

#![allow(clippy::unwrap_used)] // a measurement may panic

#[path = "../tests/it/end_to_end/fabric.rs"]
#[allow(dead_code)]
mod fabric;
#[path = "../tests/it/end_to_end/running.rs"]
#[allow(dead_code)]
mod running;

use std::time::{Duration, Instant};

use heddle_path_encoder::{Key, Network};
use heddle_path_service::{Service, v1};
use heddle_policy::cflb::{Cipher, Field};
use heddle_scenario::{Source, load_fabric};
use running::{Running, options};
use tokio::task::JoinSet;

/// Duration of each measurement.
const DURATION: Duration = Duration::from_secs(2);
/// Concurrent clients, each with a connection of its own and one request at a time.
const CLIENTS: [usize; 3] = [1, 4, 16];

fn encode_request(number: u64) -> v1::EncodeRequest {
    let path = Some(number % u64::from(fabric::SPINES));
    v1::EncodeRequest { from: "host-1".into(), to: "host-3".into(), path, ..Default::default() }
}

fn report(way: &str, clients: usize, answers: u64, took: Duration) {
    let rate = answers as f64 / took.as_secs_f64();
    let micros = took.as_secs_f64() * 1e6 * clients as f64 / answers as f64;
    println!("{way:<12} {clients:>3} clients {rate:>10.0} encodings/s {micros:>8.1} us each");
}

fn in_process() {
    let service = Service::new(fabric::network(Field::Ports), &options()).unwrap();
    let (begun, mut answers) = (Instant::now(), 0);
    while begun.elapsed() < DURATION {
        service.encode(&encode_request(answers)).unwrap();
        answers += 1;
    }
    report("in process", 1, answers, begun.elapsed());
}

/// Opens connections and closes them: the work behind the lock.
fn opening(fabric: &str, network: Network, to: &str, subflows: u32) {
    let service = Service::new(network, &options()).unwrap();
    let (from, to) = ("host-1".into(), to.into());
    let request = v1::OpenConnectionRequest { from, to, subflows, ..Default::default() };
    let (begun, mut answers) = (Instant::now(), 0u32);
    while begun.elapsed() < DURATION {
        let connection = service.open_connection(&request).unwrap().connection;
        service.close_connection(&v1::CloseConnectionRequest { connection }).unwrap();
        answers += 1;
    }
    let micros = begun.elapsed().as_secs_f64() * 1e6 / f64::from(answers);
    println!("in process   {fabric}: {micros:>8.1} us to open and close, {subflows:>2} subflows");
}

/// 8192 hosts; 256 paths between pods.
fn fat_tree() -> Network {
    let text = "[fabric]\nkind = \"fat-tree\"\nk = 32\n[cflb]\nradix = 16\n";
    let no_files = |path: &str| Err(std::io::Error::other(path.to_owned()));
    let file = load_fabric(&Source::new("fabric.toml", text), &no_files).unwrap();
    Network::from_file(&file, &Key::parse(fabric::KEY, Cipher::Rc5).unwrap()).unwrap()
}

async fn by_grpc(running: &Running, clients: usize) {
    let (begun, mut tasks) = (Instant::now(), JoinSet::new());
    for _ in 0..clients {
        let mut grpc = running.grpc().await;
        tasks.spawn(async move {
            let mut answers = 0;
            while begun.elapsed() < DURATION {
                grpc.encode(encode_request(answers)).await.unwrap();
                answers += 1;
            }
            answers
        });
    }
    let answers = tasks.join_all().await.iter().sum();
    report("gRPC", clients, answers, begun.elapsed());
}

async fn by_http(running: &Running, clients: usize) {
    let (begun, mut tasks) = (Instant::now(), JoinSet::new());
    for _ in 0..clients {
        let mut http = running.http().await;
        tasks.spawn(async move {
            let mut answers = 0;
            while begun.elapsed() < DURATION {
                let body = serde_json::to_value(encode_request(answers)).unwrap();
                assert_eq!(http.send("POST", "/v1/encode", &body).await.status, 200);
                answers += 1;
            }
            answers
        });
    }
    let answers = tasks.join_all().await.iter().sum();
    report("HTTP", clients, answers, begun.elapsed());
}

#[tokio::main]
async fn main() {
    in_process();
    let tree = fat_tree();
    for subflows in [2, 16] {
        opening("seven paths", fabric::network(Field::Ports), "host-3", subflows);
        opening("fat-tree 32", tree.clone(), "host-8192", subflows);
    }
    let running = Running::start(fabric::network(Field::Ports), options()).await;
    for clients in CLIENTS {
        by_grpc(&running, clients).await;
        by_http(&running, clients).await;
    }
    running.stop().await.unwrap();
}
