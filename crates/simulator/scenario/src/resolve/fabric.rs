//! `[fabric]`.

use std::collections::BTreeSet;

use heddle_config::Problem;
use heddle_transport::Control;
use heddle_units::{Bytes, Rate};

use super::group_routing;
use super::times::bounded;
use crate::graph::{
    Base, Names, bcube, check_delay, check_ports, check_rate, dragonfly, fat_tree, from_file,
    from_hpcc, from_htsim, leaf_spine, two_pod, vl2,
};
use crate::raw::{self, LinkChange, Options, Shape};
use crate::source::Files;
use crate::{Fabric, Graph, Link, PortLimits, Red, Share, SharedBuffer};

/// K of DCTCP at 10 Gbps: 65 packets of 1500 bytes (Alizadeh et al., SIGCOMM 2010, section 4).
const DCTCP_MARK: Bytes = Bytes(97_500);

/// Interfaces of a host at a ToR, or its ToRs, beyond this are a mistake.
const MOST_INTERFACES: usize = 16;

/// 250 packets of 1500 bytes: ns-2.35's DCTCP example at 10 Gbps.
const PORT_BUFFER: Bytes = Bytes::kb(375);

/// With more than this, thresholds are the whole buffer.
const LARGEST_ALPHA: f64 = 1024.0;

/// Several receive windows: a host does not drop its own packets.
const HOST_BUFFER: Bytes = Bytes(10_000_000);

/// A fabric, with what the other tables ask of it.
pub(super) struct Resolved {
    pub(super) fabric: Fabric,
    /// Links that are down from the start.
    pub(super) down: BTreeSet<u32>,
    /// The links before any was changed.
    pub(super) nominal: Vec<Link>,
}

pub(super) fn resolve(
    raw: &raw::Fabric,
    control: Control,
    files: &dyn Files,
) -> Result<Resolved, Problem> {
    let mut graph = build(raw, files)?;
    let nominal = graph.links.clone();
    change_links(&mut graph, &raw.options.link)?;
    let (failed, down) = failed(&graph, &raw.options.failed)?;
    let shared_buffer = shared_buffer(&raw.options)?;
    let (port, host_port) = ports(&raw.options, control, shared_buffer)?;
    let red = red(&raw.options, &port, shared_buffer)?;
    let non_minimal = group_routing::resolve(&raw.options, &graph)?;
    let convergence = bounded("convergence", raw.options.convergence)?;
    let priority_bytes = priority_bytes(&raw.options)?;
    let control_first = control_first(&raw.options)?;
    let trim_above = trim_above(&raw.options, &port)?;
    let scale_buffers = scale_buffers(&raw.options)?;
    let fabric = Fabric {
        graph,
        failed,
        convergence,
        port,
        host_port,
        shared_buffer,
        red,
        scale_buffers,
        priority_bytes,
        control_first,
        trim_above,
        non_minimal,
    };
    Ok(Resolved { fabric, down, nominal })
}

/// The graph as its shape gives it, before links fail or change.
fn build(raw: &raw::Fabric, files: &dyn Files) -> Result<Graph, Problem> {
    let delay = raw.options.link_delay;
    check_delay("link_delay", delay)?;
    let base = Base { delay, most_links: files.most_links() };
    let graph = match &raw.shape {
        Shape::TwoPod(shape) => two_pod(shape, base)?,
        Shape::FatTree(shape) => fat_tree(shape, base)?,
        Shape::LeafSpine(shape) => leaf_spine(shape, base)?,
        Shape::Vl2(shape) => vl2(shape, base)?,
        Shape::BCube(shape) => bcube(shape, base)?,
        Shape::Dragonfly(shape) => dragonfly(shape, base)?,
        Shape::File(raw::GraphPath { path, format }) => {
            let unreadable = |error| Problem::at("path", format!("cannot read {path}: {error}"));
            let text = files.read(path).map_err(unreadable)?;
            let by_name = match path.ends_with(".topo") {
                true => raw::GraphFormat::Htsim,
                false => raw::GraphFormat::Heddle,
            };
            match format.unwrap_or(by_name) {
                raw::GraphFormat::Heddle => from_file(path, &text, delay)?,
                raw::GraphFormat::Htsim => from_htsim(path, &text, files)?,
                raw::GraphFormat::Hpcc => from_hpcc(path, &text, files)?,
            }
        }
    };
    let graph = multi_homed(graph, raw)?;
    check_ports(&graph)?;
    match graph.nodes.iter().filter(|node| node.tier == 0).count() {
        0 | 1 => Err(Problem::new("there are fewer than two hosts, so nobody to send to")
            .help("more hosts, or switches that have some")),
        _ => Ok(graph),
    }
}

/// The graph with links of each host to all ToRs of its group, and as many to each as it has
/// interfaces there.
fn multi_homed(mut graph: Graph, raw: &raw::Fabric) -> Result<Graph, Problem> {
    let count = usize::from(raw.options.interfaces);
    if !(1..=MOST_INTERFACES).contains(&count) {
        return Err(Problem::at("interfaces", format!("a host cannot have {count} interfaces"))
            .help(format!("from 1 to {MOST_INTERFACES}")));
    }
    if count > 1 && matches!(raw.shape, Shape::BCube(_)) {
        let message = "the ports of BCube's servers are those of their relays";
        return Err(Problem::at("interfaces", message).help("`levels` gives their number"));
    }
    if raw.options.tors_per_host != 1 {
        let to_groups = to_groups_of_tors(&mut graph, raw);
        to_groups.map_err(|problem| problem.inside("tors_per_host"))?;
    }
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count() as u32;
    let each = count * graph.interfaces() as usize;
    if hosts as usize * each > usize::from(u16::MAX) {
        let message = format!("{hosts} hosts with {each} interfaces each are too many");
        return Err(Problem::at("interfaces", message).help("at most 65535 interfaces in all"));
    }
    let copies = |link: &Link| if link.ends.0.min(link.ends.1) < hosts { count } else { 1 };
    graph.links = graph.links.iter().flat_map(|link| vec![*link; copies(link)]).collect();
    Ok(graph)
}

/// Replaces each host's link by links to all ToRs of its group.
fn to_groups_of_tors(graph: &mut Graph, raw: &raw::Fabric) -> Result<(), Problem> {
    let size = usize::from(raw.options.tors_per_host);
    if !(1..=MOST_INTERFACES).contains(&size) {
        return Err(Problem::new(format!("a host cannot have {size} ToRs"))
            .help(format!("from 1 to {MOST_INTERFACES}")));
    }
    match raw.shape {
        Shape::File(_) => {
            return Err(Problem::new("a file lists the links of its hosts")
                .help("leave it out, and list a link to each ToR there"));
        }
        Shape::BCube(_) => {
            return Err(Problem::new("a server of a BCube has its relay alone")
                .help("leave it out; `levels` gives the number of a server's ports"));
        }
        _ => {}
    }
    let hosts = graph.nodes.iter().take_while(|node| node.tier == 0).count();
    let tors = graph.nodes[hosts..].iter().take_while(|node| node.tier == 1);
    let pods: Vec<Option<u16>> = tors.map(|node| node.pod).collect();
    let is_group =
        |group: &[Option<u16>]| group.len() == size && group.iter().all(|p| *p == group[0]);
    if !pods.chunks(size).all(is_group) {
        let of_pods = if pods.iter().any(Option::is_some) { ", each in one pod" } else { "" };
        let message = format!("{} ToRs do not form groups of {size}{of_pods}", pods.len());
        return Err(Problem::new(message).help("a number that divides that of the ToRs"));
    }
    let to_group = |link: &Link| {
        let (host, tor) = (link.ends.0.min(link.ends.1), link.ends.0.max(link.ends.1) as usize);
        if host as usize >= hosts {
            return vec![*link];
        }
        let first = tor - (tor - hosts) % size;
        let to = |tor: usize| Link { ends: (host, tor as u32), ..*link };
        (first..first + size).map(to).collect()
    };
    graph.links = graph.links.iter().flat_map(to_group).collect();
    Ok(())
}

fn change_links(graph: &mut Graph, changes: &[LinkChange]) -> Result<(), Problem> {
    let mut links = graph.links.clone();
    let names = Names::new(graph);
    for (index, change) in changes.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("link.{index}"));
        let first = names.first_end(&change.between);
        for link in changed(&names, change).map_err(inside)? {
            let link = &mut links[link as usize];
            if let Some(rate) = change.rate {
                (link.rate, link.reverse_rate) = (rate, None);
            }
            if let (Some(rate), Ok(first)) = (change.reverse_rate, &first) {
                let second = if link.ends.0 == *first { link.ends.1 } else { link.ends.0 };
                link.set_rate_from(second, rate);
            }
            link.delay = change.delay.unwrap_or(link.delay);
        }
    }
    graph.links = links;
    Ok(())
}

/// The links that a change names, once its values are checked.
fn changed(names: &Names<'_>, change: &LinkChange) -> Result<Vec<u32>, Problem> {
    if (change.rate, change.reverse_rate, change.delay) == (None, None, None) {
        return Err(
            Problem::new("nothing is changed").help("give a `rate`, a `reverse_rate` or a `delay`")
        );
    }
    change.rate.map_or(Ok(()), |rate| check_rate("rate", rate))?;
    change.reverse_rate.map_or(Ok(()), |rate| check_rate("reverse_rate", rate))?;
    change.delay.map_or(Ok(()), |delay| check_delay("delay", delay))?;
    names.links(&change.between).map_err(|problem| problem.inside("between"))
}

type Failed = (Vec<(String, String)>, BTreeSet<u32>);

/// Failed links by the names of their ends, each once, and by number.
fn failed(graph: &Graph, failed: &[String]) -> Result<Failed, Problem> {
    let names = Names::new(graph);
    let mut down = BTreeSet::new();
    for (index, text) in failed.iter().enumerate() {
        let inside = |problem: Problem| problem.inside(&format!("failed.{index}"));
        check_whole(text).map_err(inside)?;
        down.extend(names.links(text).map_err(inside)?);
    }
    let name = |node: u32| graph.nodes[node as usize].name.clone();
    let pairs: BTreeSet<(u32, u32)> =
        down.iter().map(|&link| graph.links[link as usize].ends).collect();
    Ok((pairs.into_iter().map(|(a, b)| (name(a), name(b))).collect(), down))
}

/// A link that is failed from the start is known by its ends alone, so parallel links fail
/// together.
fn check_whole(text: &str) -> Result<(), Problem> {
    if text.contains('#') {
        return Err(Problem::new("parallel links fail together from the start")
            .help("fail one of them by an [[event]] at \"0s\", with `convergence = \"0s\"`"));
    }
    Ok(())
}

/// Limits of a switch's and of a host's port.
fn ports(
    options: &Options,
    control: Control,
    shared: Option<SharedBuffer>,
) -> Result<(PortLimits, PortLimits), Problem> {
    let marked = (control == Control::Dctcp && options.red.is_none()).then_some(DCTCP_MARK);
    let unshared = options.port_buffer.unwrap_or(PORT_BUFFER);
    let port = PortLimits {
        bytes: shared.map_or(unshared, |shared| shared.bytes),
        packets: options.port_packets,
        mark_above: options.mark_above.or(marked),
    };
    let host = PortLimits {
        bytes: options.host_buffer.unwrap_or(port.bytes.max(HOST_BUFFER)),
        packets: options.host_packets,
        mark_above: options.host_mark_above.or(port.mark_above),
    };
    check_mark("mark_above", port.mark_above, most_waiting(&port, shared))?;
    check_mark("host_mark_above", host.mark_above, host.bytes)?;
    Ok((port, host))
}

/// Bytes that one port can hold where all others are empty.
fn most_waiting(port: &PortLimits, shared: Option<SharedBuffer>) -> Bytes {
    shared.map_or(port.bytes, |shared| shared.threshold(1))
}

fn check_mark(key: &str, mark: Option<Bytes>, most: Bytes) -> Result<(), Problem> {
    let Some(mark) = mark.filter(|mark| *mark >= most) else { return Ok(()) };
    let message = format!("{mark} is never reached: the buffer holds {most}");
    Err(Problem::at(key, message).help(format!("a larger buffer, or a smaller `{key}`")))
}

/// The buffer that a switch's ports share.
fn shared_buffer(options: &Options) -> Result<Option<SharedBuffer>, Problem> {
    let Some(raw::SharedBuffer { bytes, alpha }) = options.shared_buffer else { return Ok(None) };
    if options.port_buffer.is_some() {
        let message = "ports that share a buffer have none of their own";
        return Err(Problem::at("port_buffer", message)
            .help("leave it out, or `shared_buffer`; `port_packets` limits a port beside it"));
    }
    if !(alpha > 0.0 && alpha <= LARGEST_ALPHA) {
        return Err(Problem::at("shared_buffer.alpha", format!("{alpha} is not a factor"))
            .help(format!("above 0 and up to {LARGEST_ALPHA}, as in 1.0")));
    }
    Ok(Some(SharedBuffer { bytes, alpha }))
}

/// Bytes of a flow that go before others, at ports that have a buffer of their own.
fn priority_bytes(options: &Options) -> Result<Option<Bytes>, Problem> {
    let Some(bytes) = options.priority_bytes else { return Ok(None) };
    if bytes == Bytes(0) {
        return Err(Problem::at("priority_bytes", "no flow has so few")
            .help("leave it out for ports with one queue"));
    }
    if options.shared_buffer.is_some() {
        let message = "`shared_buffer` is for ports with one queue";
        return Err(Problem::at("priority_bytes", message).help("one of them"));
    }
    Ok(Some(bytes))
}

/// Control packets before data, at ports that have a buffer of their own.
fn control_first(options: &Options) -> Result<bool, Problem> {
    let both = |key: &str, message: &str| {
        Err(Problem::at(key, message).help("leave it out, or `control_first`"))
    };
    match options {
        Options { control_first: false, .. } => Ok(false),
        Options { shared_buffer: Some(_), .. } => {
            both("shared_buffer", "with `control_first` each queue of a port has its own buffer")
        }
        Options { priority_bytes: Some(_), .. } => {
            both("priority_bytes", "it sends control packets first already")
        }
        _ => Ok(true),
    }
}

/// The threshold from which data is cut to its header.
fn trim_above(options: &Options, port: &PortLimits) -> Result<Option<Bytes>, Problem> {
    let Some(bytes) = options.trim_above else { return Ok(None) };
    if !options.control_first {
        return Err(Problem::at("trim_above", "headers need a queue that goes first")
            .help("`control_first = true`"));
    }
    if bytes > port.bytes {
        let message = format!("{bytes} is never reached: the buffer holds {}", port.bytes);
        return Err(Problem::at("trim_above", message).help("at most `port_buffer`"));
    }
    Ok(Some(bytes))
}

/// The rate that limits are given for, at ports that have a buffer of their own.
fn scale_buffers(options: &Options) -> Result<Option<Rate>, Problem> {
    let Some(rate) = options.scale_buffers else { return Ok(None) };
    check_rate("scale_buffers", rate)?;
    if options.shared_buffer.is_some() {
        let message = "ports that share a buffer have none of their own";
        return Err(Problem::at("scale_buffers", message).help("leave it out, or `shared_buffer`"));
    }
    Ok(Some(rate))
}

/// Marking by RED.
fn red(
    options: &Options,
    port: &PortLimits,
    shared: Option<SharedBuffer>,
) -> Result<Option<Red>, Problem> {
    let Some(raw::Red { min, max, probability, weight, gentle, on_departure, to_hosts }) =
        options.red
    else {
        return Ok(None);
    };
    if options.mark_above.is_some() {
        let message = "RED marks by the average queue, `mark_above` by the queue";
        return Err(Problem::at("red", message).help("one of them"));
    }
    if min > max {
        return Err(Problem::at("red.min", format!("{min} is more than `max`, {max}"))
            .help("a smaller `min`, or a larger `max`"));
    }
    let share = |key: &str, share: f64| {
        let wrong =
            || Problem::at(key, format!("{share} is out of range")).help("above 0 and up to 1");
        Share::new(share).filter(|share| *share > Share::default()).ok_or_else(wrong)
    };
    let probability = share("red.probability", probability)?;
    let weight = share("red.weight", weight)?;
    check_mark("red.max", Some(max), most_waiting(port, shared))?;
    if on_departure && !options.control_first && options.priority_bytes.is_none() {
        return Err(Problem::at("red.on_departure", "ports with one queue mark on arrival")
            .help("`control_first = true`, or `priority_bytes`"));
    }
    if !to_hosts && shared.is_some() {
        return Err(Problem::at("red.to_hosts", "ports that share a buffer mark alike")
            .help("`to_hosts = true`, or `port_buffer`"));
    }
    Ok(Some(Red { min, max, probability, weight, gentle, on_departure, to_hosts }))
}
