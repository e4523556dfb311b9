//! The schemes' headers in the kernel: the verifier takes each in an XDP and in a tc program, and
//! the kernel decides as the traces do.

use std::path::{Path, PathBuf};

use aya::programs::{SchedClassifier, TestRun, TestRunOptions, Xdp};
use aya::{Ebpf, EbpfLoader, VerifierLogLevel};
use heddle_bpf_loader::maps::{Access, Memory, array};
use heddle_policy::Counters;
use heddle_switch_conformance::abi::{SchemeCounters, StepInput, StepOutput, SwitchScheme};
use heddle_switch_conformance::words::{Flat, of_words, words};
use heddle_switch_conformance::{Native, convert, native};
use heddle_testing::{Need, skip_without};
use heddle_vectors::{Input, Output, Target, Trace, VectorFile, replay};

/// The program of c/schemes.bpf.c for a scheme.
fn program(scheme: u32) -> &'static str {
    SwitchScheme::from_number(scheme).map_or("dre", SwitchScheme::name)
}

/// All of them.
fn programs() -> impl Iterator<Item = &'static str> {
    SwitchScheme::ALL.iter().map(|scheme| scheme.name()).chain(["dre"])
}

const XDP_PASS: u32 = 2;

/// Compiles the programs.
fn compile(name: &str, flags: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("c/schemes.bpf.c");
    let name = format!("{name}-{}.o", std::process::id());
    let object = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    heddle_bpf_build::compile(&source, &object, flags).unwrap();
    object
}

/// Their maps in the kernel; no program yet.
fn load(object: &Path) -> Ebpf {
    EbpfLoader::new()
        .verifier_log_level(VerifierLogLevel::STATS)
        .load(&std::fs::read(object).unwrap())
        .unwrap()
}

/// Programs and maps in the kernel.
struct Kernel {
    object: Ebpf,
    config: Memory,
    state: Memory,
    counts: Memory,
    input: Memory,
    output: Memory,
}

fn memory(object: &mut Ebpf, name: &'static str) -> Memory {
    let map = object.take_map(name).unwrap();
    Memory::new(name, array(map).unwrap(), Access::Write).unwrap()
}

fn write(memory: &Memory, words: &[u64]) {
    for (index, &word) in words.iter().enumerate() {
        memory.write(index, word).unwrap();
    }
}

fn read<T: Flat>(memory: &Memory) -> T {
    of_words(&read_words(memory, size_of::<T>() / 8))
}

fn read_words(memory: &Memory, words: usize) -> Vec<u64> {
    (0..words).map(|index| memory.read(index).unwrap()).collect()
}

impl Kernel {
    fn new() -> Kernel {
        let mut object = load(&compile("traces", &[]));
        for name in programs() {
            let program: &mut Xdp = object.program_mut(name).unwrap().try_into().unwrap();
            program.load().unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let maps = ["config", "state", "counts", "input", "output"];
        let [config, state, counts, input, output] = maps.map(|name| memory(&mut object, name));
        Kernel { object, config, state, counts, input, output }
    }

    /// A switch that has received nothing.
    fn switch(&self, trace: &Trace) -> Switch<'_> {
        let native = native(&trace.switch, &trace.config).unwrap();
        write(&self.config, &words(native.config()));
        write(&self.state, native.state());
        write(&self.counts, &words(&SchemeCounters::default()));
        Switch { kernel: self, native }
    }

    fn run(&self, scheme: u32, input: &StepInput) -> StepOutput {
        write(&self.input, &words(input));
        write(&self.output, &words(&StepOutput::default()));
        let program = self.object.program(program(scheme)).unwrap();
        let program: &Xdp = program.try_into().unwrap();
        let mut options = TestRunOptions::new();
        options.data_in = Some(&[0; 64]);
        assert_eq!(program.test_run(options).unwrap().return_value, XDP_PASS);
        read(&self.output)
    }
}

/// A switch in the kernel.
struct Switch<'a> {
    kernel: &'a Kernel,
    /// An empty switch outside of it, which computes the digest of the kernel's tables.
    native: Native,
}

impl Target for Switch<'_> {
    fn step(&mut self, now: u64, rnd: u32, input: &Input) -> Output {
        let output = self.kernel.run(self.native.config().scheme, &convert::input(now, rnd, input));
        convert::output(input, &output)
    }

    fn digest(&self) -> u64 {
        let state = read_words(&self.kernel.state, self.native.state().len());
        self.native.digest_of(&state).unwrap()
    }

    fn counters(&self) -> Counters {
        Counters::from(&read::<SchemeCounters>(&self.kernel.counts))
    }
}

#[test]
fn the_verifier_takes_each_scheme() {
    if skip_without(Need::Root) {
        return;
    }
    for (sizes, flags) in [("small", &[][..]), ("default", &["-DDEFAULT_SIZES"])] {
        let mut object = load(&compile(sizes, flags));
        for name in programs() {
            let xdp: &mut Xdp = object.program_mut(name).unwrap().try_into().unwrap();
            xdp.load().unwrap_or_else(|error| panic!("{name}, {sizes} tables: {error}"));
            let tc = object.program_mut(&format!("{name}_tc")).unwrap();
            let tc: &mut SchedClassifier = tc.try_into().unwrap();
            tc.load().unwrap_or_else(|error| panic!("{name}, {sizes} tables, tc: {error}"));
        }
    }
}

#[test]
fn the_kernel_decides_as_the_traces_do() {
    if skip_without(Need::Root) {
        return;
    }
    let kernel = Kernel::new();
    for (name, file) in VectorFile::all().unwrap() {
        for trace in &file.traces {
            if let Err(mismatch) = replay(trace, &mut kernel.switch(trace)) {
                panic!("{name}, {}: {mismatch}", trace.name);
            }
        }
    }
}
