//! Plans of MSCCL against the flows that they mean.

use heddle_units::{Bytes, Time};

use super::{plan, resolved, table};

/// A step as MSCCL's compiler writes it.
fn step(number: usize, kind: &str, chunk: usize, depends: &str) -> String {
    let depends = if depends.is_empty() { "depid=\"-1\" deps=\"-1\"" } else { depends };
    format!(
        "<step s=\"{number}\" type=\"{kind}\" srcbuf=\"i\" srcoff=\"{chunk}\" dstbuf=\"i\" dstoff=\"{chunk}\" cnt=\"1\" {depends} hasdep=\"0\"/>\n"
    )
}

/// All-reduce of `gpus` in a ring, in one thread block each: `gpus` - 1 steps that reduce, as many
/// that copy.
pub(super) fn ring(gpus: usize) -> String {
    let gpu = |gpu: usize| {
        let (next, last) = ((gpu + 1) % gpus, (gpu + gpus - 1) % gpus);
        let hops = 2 * (gpus - 1);
        let steps = (0..hops).map(|hop| {
            let chunk = (gpu + 2 * gpus - hop) % gpus;
            let kind = if hop < gpus - 1 { "rrc" } else { "r" };
            step(2 * hop, "s", chunk, "") + &step(2 * hop + 1, kind, chunk, "")
        });
        format!(
            "<gpu id=\"{gpu}\" i_chunks=\"{gpus}\" o_chunks=\"0\" s_chunks=\"0\">\n\
             <tb id=\"0\" send=\"{next}\" recv=\"{last}\" chan=\"0\">\n{}</tb>\n</gpu>\n",
            steps.collect::<String>()
        )
    };
    format!(
        "<algo name=\"ring\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"{gpus}\" ngpus=\"{gpus}\" coll=\"allreduce\" inplace=\"1\">\n{}</algo>\n",
        (0..gpus).map(gpu).collect::<String>()
    )
}

/// As many steps, and bytes on each link, as Heddle's own ring has.
#[test]
fn a_ring_is_heddles_own() {
    for gpus in [2, 4, 8] {
        let imported = plan(&ring(gpus), 8000).unwrap();
        let flows = 2 * (gpus - 1) * gpus;
        assert_eq!(imported.is, format!("{flows} flows and {flows} other steps of {gpus} ranks"));
        let graph = resolved(&table(imported).0);
        assert!(graph.flows.iter().all(|f| f.is_computation() || f.size.0 == 8000 / gpus as u64));
        let steps = 2 * (gpus as u64 - 1);
        assert_eq!(graph.critical_path(|_| Time::micros(10)), Time::micros(10 * steps));
    }
}

/// GPU 0 sends two chunks to 1 by block 1, once block 0 has copied; 1 passes them on to 2 as it
/// receives them.
#[test]
fn steps_wait_for_their_block_for_others_and_for_what_they_receive() {
    let text = r#"<algo name="x" nchunksperloop="4" ngpus="3" coll="custom">
        <gpu id="0">
          <tb id="0" send="-1" recv="-1" chan="0"><step s="0" type="cpy" cnt="1" depid="-1" deps="-1"/></tb>
          <tb id="1" send="1" recv="-1" chan="3"><step s="0" type="s" cnt="2" depid="0" deps="0"/></tb>
        </gpu>
        <gpu id="1"><tb id="0" send="2" recv="0" chan="3"><step s="0" type="rcs" cnt="2" depid="-1" deps="-1"/></tb></gpu>
        <gpu id="2"><tb id="0" send="-1" recv="1" chan="3"><step s="0" type="r" cnt="2" depid="-1" deps="-1"/></tb></gpu>
      </algo>"#;
    let (lines, _) = table(plan(text, 4000).unwrap());
    let expected = "id,after,from,to,size,delay\n\
                    s0/gpu0/tb0,,host-1,,,\n\
                    s0/gpu0/tb1,s0/gpu0/tb0,host-1,host-2,2KB,\n\
                    s0/gpu1/tb0,s0/gpu0/tb1,host-2,host-3,2KB,\n\
                    s0/gpu2/tb0,s0/gpu1/tb0,host-3,,,\n";
    assert_eq!(lines, expected);
    assert_eq!(resolved(&lines).flows[2].size, Bytes(2000));
}

#[test]
fn what_does_not_fit_is_named_with_its_line() {
    let good = ring(2);
    let error = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        let text = good.replacen(from, to, 1);
        plan(&text, 8000).map(|found| found.is).unwrap_err().to_string()
    };
    for (from, to, expected) in [
        (
            "type=\"s\"",
            "type=\"nop\"",
            "plan.xml:15: GPU 0 has 1 sends to GPU 1 on channel 0, and that 2 receives\nhelp: as many of both",
        ),
        (
            "cnt=\"1\"",
            "cnt=\"2\"",
            "plan.xml:4: 2 chunks are sent, and step 1 of block 0 of GPU 1 receives 1\nhelp: one `cnt` at both",
        ),
        (
            "type=\"s\"",
            "type=\"sr\"",
            "plan.xml:4: \"sr\" is no type of step\nhelp: s, r, rcs, rrs, rrc, rrcs, cpy, re, ra or nop",
        ),
        (
            "depid=\"-1\" deps=\"-1\"",
            "depid=\"3\" deps=\"0\"",
            "plan.xml:4: GPU 0 has no step 0 in block 3\n\
             help: `depid` names a thread block of the same GPU, `deps` its step",
        ),
        (
            "send=\"1\"",
            "send=\"-1\"",
            "plan.xml:4: its thread block has no `send`\nhelp: the GPU at the other end",
        ),
        (
            "send=\"1\"",
            "send=\"2\"",
            "plan.xml:3: `send` is 2, and there are 2 GPUs\nhelp: numbers from 0, below `ngpus`",
        ),
        (
            "ngpus=\"2\"",
            "ngpus=\"3\"",
            "plan.xml:1: GPU 2 of 3 is missing\nhelp: a `gpu` for each from 0 on, or another `ngpus`",
        ),
        (
            "<step s=\"1\"",
            "<step s=\"0\"",
            "plan.xml:5: block 0 of GPU 0 has step 0 twice\nhelp: a number of its own for each",
        ),
        (
            " ngpus=\"2\"",
            "",
            "plan.xml:1: `ngpus` is missing\nhelp: `ngpus=\"..\"` beside name, proto, nchannels, nchunksperloop, coll, inplace",
        ),
    ] {
        assert_eq!(error(from, to), expected, "{from} -> {to}");
    }
    assert!(error("</algo>", "").starts_with("plan.xml:1"));
    let cycle = "<algo nchunksperloop=\"1\" ngpus=\"2\">\n<gpu id=\"0\"><tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n\
                 <step s=\"0\" type=\"rcs\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/></tb></gpu>\n\
                 <gpu id=\"1\"><tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n\
                 <step s=\"0\" type=\"rcs\" cnt=\"1\" depid=\"-1\" deps=\"-1\"/></tb></gpu></algo>";
    let said = plan(cycle, 100).unwrap_err().to_string();
    let expected = "plan.xml:3: steps wait for each other: s0/gpu0/tb0 after s0/gpu1/tb0 after s0/gpu0/tb0\nhelp: ";
    assert!(said.starts_with(expected), "{said}");
    let small = plan(&good, 1).unwrap_err().to_string();
    assert!(small.starts_with("plan.xml:1: 1B cannot be parted into 2 chunks\nhelp: "), "{small}");
}
