//! All metrics' names. Units are base units and end the name; the text format adds `_total` to
//! counters and `_info` to facts.

pub use heddle_daemon::metrics::{Kind, Name};
use heddle_daemon::metrics::{Names, counter, gauge};

/// The beginning of every name.
pub const PREFIX: &str = "heddle_lb";

const VERDICT: &[&str] = &["service", "verdict"];
const PEER: &[&str] = &["peer"];
const BACKEND: &[&str] = &["service", "backend"];

macro_rules! names {
    ($($constant:ident = $name:expr;)*) => {
        $(#[doc = concat!("The metric `", stringify!($constant), "`: see its `help`.")] pub const $constant: Name = $name;)*
        /// All of them, in the order of the text.
        pub const ALL: &[Name] = &[$($constant),*];
    };
}

names! {
    PACKETS = counter("packets", VERDICT, "Packets by service and verdict");
    BYTES = counter("bytes", VERDICT, "Bytes of packets, from the IP header on");
    EVENTS = counter("events", &["service", "event"], "Events on packets' way");
    BACKEND_PACKETS = counter("backend_packets", BACKEND, "Packets sent to a backend");
    BACKEND_BYTES = counter("backend_bytes", BACKEND, "Bytes sent to a backend");
    BACKEND_UP = gauge("backend_up", BACKEND, "1 if a backend is in use, 0 if it is down");
    BACKEND_DRAINING = gauge("backend_draining", BACKEND, "1 if a backend gets no new connections");
    BACKEND_WEIGHT = gauge("backend_weight", BACKEND, "A backend's configured weight");
    CHECKS = counter("health_checks", &["target", "outcome"], "Health checks by outcome");
    CHECK_TIME = counter("health_check_duration_seconds", &["target"], "Time that health checks took together");
    TABLE_CAPACITY = gauge("table_capacity_entries", &["table"], "Entries that a table can hold");
    TABLE_USED = gauge("table_entries", &["table", "state"], "Live entries of a table");
    MEMBERS = gauge("members", &[], "Balancers that share the work, this one among them");
    RING_SHARE = gauge("ring_share_ratio", &[], "Share of all tokens that this balancer owns");
    MEMBER_CHANGES = counter("member_changes", &[], "Changes of the list of balancers");
    STORE_UP = gauge("member_store_up", &[], "1 if the store of balancers answers, 0 if its last list is used");
    SHARED_CHANGES = gauge("shared_changes", &["state"], "Changes in etcd that all balancers share, and whether this one uses them");
    PEER_UP = gauge("peer_up", PEER, "1 if another balancer's program answers heartbeats, 0 if not");
    PEER_ROUND_TRIP = gauge("peer_round_trip_seconds", PEER, "Time between a heartbeat and its answer; 0 without an answer");
    PEER_MISSED = counter("peer_heartbeats_missed", PEER, "Heartbeats that were not answered");
    PEER_REFUSED = counter("peer_refused", PEER, "Messages of another balancer with another secret");
    PEER_DIFFERS = gauge("peer_fingerprint_differs", PEER, "1 if another balancer has another seed, other services or other backends");
    READY = gauge("ready", &[], "0 while the balancer starts, 1 as soon as its ring, health and maps are in step");
    CONNECTED = gauge("connected", &[], "0 while neither backends nor other balancers answer, and until all have been checked again; else 1");
    MAPS_IN_SYNC = gauge("maps_in_sync", &[], "1 if the maps follow the plan, 0 if a write has failed");
    HEALTH_CHECKS_RUNNING = gauge("health_checks_running", &[], "1 if all health checks have results, 0 if one has stopped");
    NEIGHBOUR_WATCHER_RUNNING = gauge("neighbour_watcher_running", &[], "1 if next hops are kept up to date, 0 if not");
    PROGRAMS_ATTACHED = gauge("programs_attached", &[], "1 if the program is attached to all interfaces, 0 if not");
    TASKS_RUNNING = gauge("tasks_running", &[], "1 if all other tasks of the daemon run, 0 if one has stopped");
    RELOADS = counter("reloads", &["outcome"], "Reloads of the configuration");
    LOADED = gauge("config_loaded_timestamp_seconds", &[], "When the configuration in force was loaded");
    BUILD = Name { name: "build", help: "The daemon's version and the kernel's release", kind: Kind::Info, labels: &["version", "kernel"] };
}

/// With their prefix.
pub(super) const NAMES: Names = Names { prefix: PREFIX, all: ALL };
