//! Plans of collective operations in MSCCL's XML, as microsoft/msccl-tools writes them: the thread
//! blocks of each GPU, and the steps of each.
//!
//! ```text
//! <algo name="ring" nchunksperloop="2" ngpus="2" coll="allreduce">
//!   <gpu id="0">
//!     <tb id="0" send="1" recv="1" chan="0">
//!       <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1" deps="-1" hasdep="0"/>
//! ```
//!
//! A thread block takes its steps in order, each once the step of another block of its GPU that
//! `depid` and `deps` name has ended. The n-th step that sends to a GPU on a channel is the one that
//! the n-th step there waits for which receives. A step that sends ends with the arrival: NCCL's
//! buffer is smaller than a chunk of a large vector. What copies or adds up takes no time.

use std::collections::BTreeMap;

use heddle_config::Problem;
use heddle_units::{Bytes, Time};
use roxmltree::{Document, Node};

use super::limits::check_rows;
use crate::resolve::cycle_text;
use crate::{FlowGraph, GraphFlow};

/// GPUs beyond this are mistakes: a fabric has no more hosts.
const MOST_GPUS: u32 = 65_535;

/// The flows and steps of a plan for buffers of `size` bytes.
pub(super) fn graph(name: &str, text: &str, size: Option<Bytes>) -> Result<FlowGraph, Problem> {
    let document = Document::parse(text).map_err(|error| {
        let row = error.pos().row as usize;
        Problem::new(format!("no XML: {error}")).help(FORM).in_file(name, Some(row))
    })?;
    let element = Element { node: document.root_element(), file: name };
    if element.node.tag_name().name() != "algo" {
        return Err(element.wrong("the root is no `algo`").help(FORM));
    }
    let size = size.ok_or_else(|| {
        element
            .wrong("a plan does not say how large its buffers are")
            .help("`--size 64MB`: the bytes of the `nchunksperloop` chunks of a rank")
    })?;
    let plan = Plan::read(&element, size)?;
    plan.graph(&element)
}

/// The form of a plan, as a hint.
const FORM: &str = "a plan of MSCCL: `<algo ..><gpu ..><tb ..><step ../></tb></gpu></algo>`";

/// An element of a file.
#[derive(Clone, Copy)]
struct Element<'a> {
    node: Node<'a, 'a>,
    file: &'a str,
}

impl<'a> Element<'a> {
    fn line(&self) -> usize {
        self.node.document().text_pos_at(self.node.range().start).row as usize
    }

    fn wrong(&self, message: impl Into<String>) -> Problem {
        Problem::new(message).in_file(self.file, Some(self.line()))
    }

    /// The elements in it, which must be of one name.
    fn children(&self, name: &'static str) -> impl Iterator<Item = Result<Element<'a>, Problem>> {
        let file = self.file;
        self.node.children().filter(Node::is_element).map(move |node| {
            let element = Element { node, file };
            let found = node.tag_name().name();
            if found == name {
                return Ok(element);
            }
            let message = format!("`{found}` stands where a `{name}` is expected");
            Err(element.wrong(message).help(FORM))
        })
    }

    fn text(&self, attribute: &str) -> Result<&'a str, Problem> {
        self.node.attribute(attribute).ok_or_else(|| {
            let known: Vec<&str> = self.node.attributes().map(|found| found.name()).collect();
            self.wrong(format!("`{attribute}` is missing"))
                .help(format!("`{attribute}=\"..\"` beside {}", known.join(", ")))
        })
    }

    /// A whole number, or -1 for none.
    fn number(&self, attribute: &str) -> Result<Option<u32>, Problem> {
        let text = self.text(attribute)?;
        let number: i64 = text.parse().unwrap_or(-2);
        match number {
            -1 => Ok(None),
            _ => u32::try_from(number).map(Some).map_err(|_| {
                self.wrong(format!("`{attribute}` is \"{text}\""))
                    .help("a whole number from 0, or -1 for none")
            }),
        }
    }

    /// A whole number.
    fn some(&self, attribute: &str) -> Result<u32, Problem> {
        let none = || self.wrong(format!("`{attribute}` is -1")).help("a whole number from 0");
        self.number(attribute)?.ok_or_else(none)
    }
}

/// A step.
struct Step<'a> {
    element: Element<'a>,
    gpu: u32,
    block: u32,
    number: u32,
    /// The GPU that it sends to.
    to: Option<u32>,
    chunks: u32,
    /// The step before it, as an index.
    before: Option<u32>,
}

/// The steps that send to a GPU on a channel, or receive from one.
#[derive(Default)]
struct Channel {
    /// The block that sends, and the one that receives.
    blocks: [Option<u32>; 2],
    steps: [Vec<u32>; 2],
}

struct Plan<'a> {
    size: Bytes,
    /// Chunks of the buffer.
    chunks: u32,
    gpus: u32,
    steps: Vec<Step<'a>>,
    /// Indices of steps by GPU, block and number.
    places: BTreeMap<(u32, u32, u32), u32>,
    /// By sender, receiver and number.
    channels: BTreeMap<(u32, u32, u32), Channel>,
}

impl<'a> Plan<'a> {
    fn read(algo: &Element<'a>, size: Bytes) -> Result<Plan<'a>, Problem> {
        let (gpus, chunks) = (algo.some("ngpus")?, algo.some("nchunksperloop")?);
        if !(2..=MOST_GPUS).contains(&gpus) {
            let message = format!("{gpus} GPUs have no collective operation");
            return Err(algo.wrong(message).help(format!("`ngpus` from 2 to {MOST_GPUS}")));
        }
        if chunks == 0 || size.0 < u64::from(chunks) {
            let message = format!("{size} cannot be parted into {chunks} chunks");
            return Err(algo.wrong(message).help("a larger `--size`, or a plan with chunks"));
        }
        let mut plan = Plan {
            size,
            chunks,
            gpus,
            steps: Vec::new(),
            places: BTreeMap::new(),
            channels: BTreeMap::new(),
        };
        let mut seen = vec![false; gpus as usize];
        for gpu in algo.children("gpu") {
            let gpu = gpu?;
            let id = plan.gpu(&gpu, "id")?;
            if std::mem::replace(&mut seen[id as usize], true) {
                return Err(gpu.wrong(format!("GPU {id} is listed twice")).help("once each"));
            }
            for block in gpu.children("tb") {
                plan.block(id, &block?)?;
            }
        }
        if let Some(missing) = seen.iter().position(|seen| !seen) {
            let message = format!("GPU {missing} of {gpus} is missing");
            return Err(algo.wrong(message).help("a `gpu` for each from 0 on, or another `ngpus`"));
        }
        Ok(plan)
    }

    /// The number of a GPU.
    fn gpu(&self, element: &Element<'a>, attribute: &str) -> Result<u32, Problem> {
        let gpu = element.some(attribute)?;
        self.known(element, attribute, gpu)
    }

    fn known(&self, element: &Element<'a>, attribute: &str, gpu: u32) -> Result<u32, Problem> {
        if gpu < self.gpus {
            return Ok(gpu);
        }
        let message = format!("`{attribute}` is {gpu}, and there are {} GPUs", self.gpus);
        Err(element.wrong(message).help("numbers from 0, below `ngpus`"))
    }

    fn block(&mut self, gpu: u32, element: &Element<'a>) -> Result<(), Problem> {
        let (block, channel) = (element.some("id")?, element.some("chan")?);
        let mut peers = [None, None];
        for (peer, attribute) in peers.iter_mut().zip(["send", "recv"]) {
            let Some(other) = element.number(attribute)? else { continue };
            if other == gpu {
                return Err(element
                    .wrong(format!("GPU {gpu} is its own peer"))
                    .help(format!("another `{attribute}`, or -1 for none")));
            }
            *peer = Some(self.known(element, attribute, other)?);
        }
        let mut before = None;
        for step in element.children("step") {
            let step = step?;
            check_rows(self.steps.len() as u64)
                .map_err(|problem| problem.in_file(step.file, Some(step.line())))?;
            let index = self.steps.len() as u32;
            let number = step.some("s")?;
            if self.places.insert((gpu, block, number), index).is_some() {
                let message = format!("block {block} of GPU {gpu} has step {number} twice");
                return Err(step.wrong(message).help("a number of its own for each"));
            }
            let sides = sides(&step)?;
            for (side, peer) in peers.iter().enumerate().filter(|(side, _)| sides[*side]) {
                let attribute = ["send", "recv"][side];
                let peer = peer.ok_or_else(|| {
                    step.wrong(format!("its thread block has no `{attribute}`"))
                        .help("the GPU at the other end")
                })?;
                let ends = if side == 0 { (gpu, peer) } else { (peer, gpu) };
                let channel = self.channels.entry((ends.0, ends.1, channel)).or_default();
                if *channel.blocks[side].get_or_insert(block) != block {
                    let message =
                        format!("two thread blocks of GPU {gpu} have this peer on one channel");
                    return Err(step.wrong(message).help("another `chan`"));
                }
                channel.steps[side].push(index);
            }
            let chunks = step.number("cnt")?.unwrap_or(0);
            if chunks == 0 && (sides[0] || sides[1]) {
                return Err(step.wrong("no chunk is sent").help("`cnt` from 1"));
            }
            let to = peers[0].filter(|_| sides[0]);
            self.steps.push(Step { element: step, gpu, block, number, to, chunks, before });
            before = Some(index);
        }
        Ok(())
    }

    fn graph(&self, algo: &Element<'a>) -> Result<FlowGraph, Problem> {
        let mut flows = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            flows.push(self.row(step)?);
        }
        for (&(from, to, channel), Channel { steps: [sends, receives], .. }) in &self.channels {
            if let Some(&alone) = sends.get(receives.len()).or(receives.get(sends.len())) {
                let message = format!(
                    "GPU {from} has {} sends to GPU {to} on channel {channel}, and that {} receives",
                    sends.len(),
                    receives.len()
                );
                let step = &self.steps[alone as usize];
                return Err(step.element.wrong(message).help("as many of both"));
            }
            for (&send, &receive) in sends.iter().zip(receives) {
                let [sent, received] = [send, receive].map(|step| &self.steps[step as usize]);
                if sent.chunks != received.chunks {
                    let message = format!(
                        "{} chunks are sent, and step {} of block {} of GPU {to} receives {}",
                        sent.chunks, received.number, received.block, received.chunks
                    );
                    return Err(sent.element.wrong(message).help("one `cnt` at both"));
                }
                flows[receive as usize].after.push(send);
            }
        }
        let graph = FlowGraph { flows };
        if let Some(cycle) = graph.cycle() {
            let message = format!("steps wait for each other: {}", cycle_text(&graph, &cycle));
            return Err(self.steps[cycle[0] as usize]
                .element
                .wrong(message)
                .help("another order of steps, or without `depid` and `deps`"));
        }
        if graph.flow_count() == 0 {
            return Err(algo.wrong("no step sends").help(FORM));
        }
        Ok(graph)
    }

    /// The row of a step, without the flow that it receives.
    fn row(&self, step: &Step<'a>) -> Result<GraphFlow, Problem> {
        let Step { element, gpu, block, number, to, chunks, before } = *step;
        let id = format!("s{number}/gpu{gpu}/tb{block}");
        let bytes = self.size.0 as u128 * u128::from(chunks) / u128::from(self.chunks);
        let size = Bytes(if to.is_some() { bytes as u64 } else { 0 });
        let mut after: Vec<u32> = before.into_iter().collect();
        if let Some(other) = element.number("depid")? {
            let other_step = element.some("deps")?;
            let place = self.places.get(&(gpu, other, other_step));
            after.push(*place.ok_or_else(|| {
                element
                    .wrong(format!("GPU {gpu} has no step {other_step} in block {other}"))
                    .help("`depid` names a thread block of the same GPU, `deps` its step")
            })?);
        }
        Ok(GraphFlow { id, after, from: gpu, to: to.unwrap_or(gpu), size, delay: Time::ZERO })
    }
}

/// True if a step sends, and if it receives.
fn sides(step: &Element<'_>) -> Result<[bool; 2], Problem> {
    match step.text("type")? {
        "s" => Ok([true, false]),
        "r" | "rrc" => Ok([false, true]),
        "rcs" | "rrs" | "rrcs" => Ok([true, true]),
        "cpy" | "re" | "ra" | "nop" => Ok([false, false]),
        other => Err(step
            .wrong(format!("\"{other}\" is no type of step"))
            .help("s, r, rcs, rrs, rrc, rrcs, cpy, re, ra or nop")),
    }
}
