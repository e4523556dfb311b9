//! The key is in no response and no log.

use std::io;
use std::sync::{Arc, Mutex};

use heddle_path_encoder::Key;
use heddle_path_service::{Service, v1};
use heddle_policy::cflb::{Cipher, Field};
use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::end_to_end::fabric::{KEY, network};
use crate::end_to_end::running::{Running, options};

/// A log in memory.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

/// The ways in which four bytes of the key would be written: in hexadecimal, and as lists of
/// numbers.
fn traces() -> Vec<String> {
    let key = Key::parse(KEY, Cipher::Rc5).unwrap();
    let part = &key.bytes()[..4];
    let words = [
        u32::from_le_bytes(part.try_into().unwrap()),
        u32::from_be_bytes(part.try_into().unwrap()),
    ];
    let mut traces = vec![KEY[..8].to_owned(), format!("{part:?}"), format!("{part:x?}")];
    traces.extend(words.map(|word| word.to_string()));
    traces
}

fn assert_without_key(text: &str) {
    let text = text.to_lowercase();
    for trace in traces() {
        assert!(!text.contains(&trace), "{trace} is in: {text}");
    }
}

/// The subscriber is global: connections are opened on threads for blocking work.
#[tokio::test]
async fn logs_and_responses_do_not_have_the_key() {
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone());
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    let running = Running::start(network(Field::Ports), options()).await;
    let (mut grpc, mut http) = (running.grpc().await, running.http().await);
    let open = json!({"from": "host-1", "to": "host-3", "subflows": 3});
    assert_without_key(&http.send("POST", "/v1/connections", &open).await.body);
    assert_without_key(
        &http.send("POST", "/v1/connections", &json!({"from": "host-9"})).await.body,
    );
    assert_without_key(&http.get("/metrics").await.body);
    let request = v1::EncodeRequest { from: "host-1".into(), ..Default::default() };
    assert_without_key(&format!("{:?}", grpc.encode(request).await));
    running.stop().await.unwrap();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for event in ["listening", "served", "rejected", "shutting down"] {
        assert!(log.contains(event), "{log}");
    }
    assert_without_key(&log);
}

#[test]
fn debug_output_does_not_have_the_key() {
    for field in [Field::Ports, Field::FlowLabel] {
        assert_without_key(&format!("{:?}", Service::new(network(field), &options()).unwrap()));
    }
}
