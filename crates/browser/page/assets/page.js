// The page: controls, two runs, results. What is simulated, and what can be chosen, comes from the module.

const byId = (id) => document.getElementById(id);
const REPLAY_SECONDS = 8;
// What runs as the page opens: about a second of a browser, and memory that no tab lacks. A link may hold more, by
// anyone.
const AT_ONCE = { packet_hops: 5e6, memory: 2e8 };

/** The whole page. */
class Page {
  constructor(module) {
    this.module = module;
    const glue = byId("glue").textContent;
    const source = new Blob([glue, byId("worker").textContent], { type: "text/javascript" });
    this.workerUrl = URL.createObjectURL(source);
    this.presets = JSON.parse(wasm_bindgen.presets());
    this.workers = [];
    this.panels = [];
    fill(byId("preset"), this.presets.map((preset, index) => ({ value: index, label: preset.label })));
    byId("preset").addEventListener("change", () => this.start(this.presets[byId("preset").value]));
    byId("text").addEventListener("input", () => this.offer());
    for (const event of ["input", "change"]) byId("form").addEventListener(event, () => this.check());
    byId("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.run();
    });
    byId("stop").addEventListener("click", () => this.stop("Stopped."));
    byId("share").addEventListener("click", () => this.share());
    addEventListener("hashchange", () => this.open());
    byId("time").addEventListener("input", () => {
      this.pause();
      this.seek(Number(byId("time").value) / 1000);
    });
    byId("play").addEventListener("click", () => (this.player ? this.pause() : this.play()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    addEventListener("resize", () => this.redraw());
    this.open();
  }

  // -- Choices

  /** Opens what the address holds, or else the first preset, and runs it if that takes a moment. */
  async open() {
    const { hash } = location;
    if (hash === this.fragment) return;
    this.fragment = hash;
    let refusal = "";
    try {
      if (hash) this.restore(await setupOf(hash));
    } catch (error) {
      refusal = `This address holds no scenario that can be shown: ${error.message}. Below is the page's own.`;
    }
    if (!hash || refusal) {
      byId("preset").value = 0;
      this.start(this.presets[0]);
    }
    byId("notice").textContent = refusal;
    byId("notice").hidden = !refusal;
    const isSmall = ([prepared]) => Object.entries(AT_ONCE).every(([name, most]) => prepared[name] <= most);
    if (this.prepared.every(isSmall)) this.run(true);
  }

  /** Begins with a preset. */
  start(preset) {
    byId("text").value = preset.text;
    const offer = this.offer();
    if (!offer) return;
    const [a, b] = preset.schemes;
    const { flows, link, fails_at } = preset;
    this.set({ a, b, load: offer.load ?? "", flows, seed: offer.seed, link, fails_at, recovers_at: "" });
    this.tell(preset.about);
  }

  /** Fills in what a link holds. */
  restore(setup) {
    byId("text").value = setup.text;
    const offer = this.offer();
    if (!offer) throw new Error(byId("error").textContent);
    this.set(setup);
    for (const [name, id] of Object.entries(FIELDS)) {
      if (byId(id).value !== setup[name]) throw new Error(`there is no ${name} "${setup[name]}"`);
    }
    if (!this.prepared?.length) throw new Error(this.prepared ? "it names no scheme" : byId("error").textContent);
    byId("preset").value = "";
    this.tell(`From a link: ${offer.title}`);
  }

  /** Sets fields and resolves them. */
  set(setup) {
    for (const [name, id] of Object.entries(FIELDS)) byId(id).value = setup[name];
    this.check();
  }

  /** Says what the present fields show, until they are changed. */
  tell(about) {
    this.pause();
    this.release();
    [byId("live").hidden, byId("results").hidden, byId("notice").hidden, byId("shared").hidden] = [true, true, true, true];
    this.told = this.checked;
    byId("story").textContent = about;
    byId("story").hidden = false;
    this.say("Ready.", "ready");
  }

  /** The texts of a link. */
  setup() {
    const fields = Object.entries(FIELDS).map(([name, id]) => [name, byId(id).value.trim()]);
    return { text: byId("text").value, ...Object.fromEntries(fields) };
  }

  /** Puts a link with the present fields into the address, a field and the clipboard. */
  async share() {
    try {
      this.fragment = await fragmentOf(this.setup());
    } catch (error) {
      this.fail(`error: ${error.message}`);
      return;
    }
    location.hash = this.fragment;
    byId("address").value = location.href;
    const copied = navigator.clipboard ? navigator.clipboard.writeText(location.href) : Promise.reject(new Error("no clipboard"));
    byId("copied").textContent = await copied.then(() => "The link, copied to the clipboard:", () => "The link, to be copied from here:");
    byId("shared").hidden = false;
    byId("address").select();
  }

  /** Fills the lists from the scenario file. */
  offer() {
    let offer;
    try {
      offer = JSON.parse(wasm_bindgen.offer(byId("text").value));
    } catch (error) {
      this.fail(String(error));
      return undefined;
    }
    const variants = offer.variants.map(({ name, settings }) => ({
      value: `variant ${name}`, label: `variant ${name}`, title: settings.map(([key, value]) => `${key}=${value}`).join(", "),
    }));
    const schemes = [...variants, ...offer.schemes.map(({ name, about, refusal }) => ({
      value: name, label: name, title: refusal ? `${about} Not here: ${refusal}` : about, disabled: Boolean(refusal),
    }))];
    this.variants = new Map(offer.variants.map((variant) => [`variant ${variant.name}`, variant]));
    fill(byId("scheme-a"), schemes);
    fill(byId("scheme-b"), [...schemes, { value: "", label: "none" }]);
    fill(byId("link"), [{ value: "", label: "none" }, ...offer.links.map((link) => ({ value: link, label: link }))]);
    return offer;
  }

  choice(name) {
    const { a, b, ...common } = this.setup();
    const variant = this.variants?.get(name);
    return variant ? { ...common, variant: variant.name, settings: variant.settings } : { ...common, scheme: name };
  }

  /** Resolves the choices of both sides; tells the first error. */
  check() {
    for (const id of ["fails-at", "recovers-at"]) byId(id).disabled = !byId("link").value;
    const schemes = [byId("scheme-a").value, byId("scheme-b").value].filter((scheme) => scheme);
    const choices = schemes.map((scheme) => this.choice(scheme));
    // A field tells of a change once more when it loses the focus: a button that is being pressed must stay.
    const checked = JSON.stringify(choices);
    if (checked === this.checked) return;
    this.checked = checked;
    byId("story").hidden = checked !== this.told;
    if (checked !== this.told) byId("notice").hidden = true;
    byId("shared").hidden = true;
    this.prepared = undefined;
    try {
      this.prepared = choices.map((choice) => [JSON.parse(wasm_bindgen.prepare(JSON.stringify(choice))), choice]);
    } catch (error) {
      this.fail(String(error));
      return;
    }
    byId("error").hidden = true;
    [byId("run").disabled, byId("share").disabled] = [this.workers.length > 0, false];
    byId("run").textContent = schemes.length > 1 ? "Run both" : "Run";
    this.warn(this.prepared.map(([prepared]) => prepared.warning));
    byId("saves").replaceChildren(...this.prepared.map(([prepared]) => saveButton(prepared)));
  }

  // -- Runs

  /** Runs both sides. What opens the page is played once it is there, unless the reader wants no motion. */
  run(isOpening = false) {
    if (byId("run").disabled) return;
    this.pause();
    this.isPlayed = isOpening && !matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.panels = this.prepared.map(([prepared, choice]) => new Panel(prepared, choice));
    byId("panels").replaceChildren(...this.panels.map((panel) => panel.node));
    [byId("live").hidden, byId("controls").hidden, byId("results").hidden] = [false, true, true];
    this.workers = this.panels.map((panel) => this.work(panel));
    [byId("run").disabled, byId("stop").disabled] = [true, false];
    this.say(`Running ${this.panels.map((panel) => panel.prepared.name).join(" and ")}.`, "running");
    if (!isOpening) byId("status").scrollIntoView({ block: "start" });
    this.draw();
  }

  work(panel) {
    const worker = new Worker(this.workerUrl);
    worker.onmessage = ({ data }) => {
      if (data.row) panel.add(data.row);
      else if (data.error) this.stop("", data.error);
      else this.finish(panel, data);
    };
    worker.onerror = (event) => this.stop("", `error: ${event.message || "the run ended unexpectedly"}`);
    worker.postMessage({ module: this.module, choice: panel.choice });
    return worker;
  }

  /** Draws what is new, once a frame of the screen. */
  draw() {
    this.panels.forEach((panel) => panel.show(Infinity));
    if (this.workers.length) requestAnimationFrame(() => this.draw());
  }

  finish(panel, { finished, seconds }) {
    Object.assign(panel, { finished, seconds });
    if (this.panels.some((each) => !each.finished)) return;
    this.release();
    this.draw();
    byId("controls").hidden = false;
    byId("time").value = 1000;
    this.seek(1);
    this.results();
    this.say(seen(this.panels), "done");
    if (this.isPlayed) this.play();
  }

  stop(message, error) {
    this.release();
    this.say(message, error ? "error" : "ready");
    if (error) this.fail(error);
  }

  /** Ends the workers. */
  release() {
    this.workers.forEach((worker) => worker.terminate());
    this.workers = [];
    [byId("run").disabled, byId("stop").disabled] = [!this.prepared, true];
  }

  // -- Time

  /** Shows a share of the longer run. */
  seek(share) {
    const at = share * Math.max(...this.panels.map((panel) => panel.end));
    this.panels.forEach((panel) => panel.show(at));
    byId("when").textContent = milliseconds(at);
    byId("time").setAttribute("aria-valuetext", milliseconds(at));
  }

  play() {
    const from = Number(byId("time").value) >= 1000 ? 0 : Number(byId("time").value) / 1000;
    const started = performance.now();
    byId("play").textContent = "Pause";
    const step = () => {
      const share = Math.min(from + (performance.now() - started) / 1000 / REPLAY_SECONDS, 1);
      byId("time").value = 1000 * share;
      this.seek(share);
      if (share < 1) this.player = requestAnimationFrame(step);
      else this.pause();
    };
    this.player = requestAnimationFrame(step);
  }

  pause() {
    cancelAnimationFrame(this.player);
    this.player = undefined;
    byId("play").textContent = "Play";
  }

  /** Draws in the colours of the other theme, or in another width. */
  redraw() {
    for (const panel of this.panels) {
      panel.shown = undefined;
      panel.dots.drawn = -1;
    }
    if (this.panels.length && !this.workers.length) this.seek(Number(byId("time").value) / 1000);
  }

  // -- Results

  results() {
    const { panels } = this;
    const cells = (tag, texts, name = "") => texts.map((text, i) => element(tag, text, i ? name : ""));
    const row = (label, texts, name) => {
      const line = element("tr");
      line.append(Object.assign(element("th", label), { scope: "row" }), ...cells("td", ["", ...texts], name).slice(1));
      return line;
    };
    const head = element("tr");
    head.append(element("th", "scheme"), ...panels.map((panel) => Object.assign(element("th", panel.prepared.name), { scope: "col" })));
    byId("head").replaceChildren(head);
    byId("figures").replaceChildren(...FIGURES.map(([label, figure, name]) => row(label, panels.map(figure), name)));
    // Two variants may have one scheme: series have the names of the panels.
    const summaries = panels.map((panel) => ({ ...panel.finished.summary, scheme: panel.prepared.name }));
    byId("plot").innerHTML = wasm_bindgen.distributions(JSON.stringify(summaries));
    this.warn(panels.flatMap((panel) => [panel.prepared.warning, ...panel.finished.remarks]));
    byId("results").hidden = false;
  }

  // -- Messages

  say(text, state) {
    byId("status").textContent = text;
    document.body.dataset.state = state;
  }

  fail(text) {
    byId("warnings").replaceChildren();
    byId("error").textContent = text;
    byId("error").hidden = false;
    [byId("run").disabled, byId("share").disabled] = [true, true];
    this.checked = undefined;
    byId("saves").replaceChildren();
  }

  warn(texts) {
    const distinct = [...new Set(texts.filter((text) => text))];
    byId("warnings").replaceChildren(...distinct.map((text) => element("p", `warning: ${text}`, "warning")));
  }
}

/** The fields of a link and their ids. */
const FIELDS = {
  a: "scheme-a", b: "scheme-b", load: "load", flows: "flows", seed: "seed", link: "link", fails_at: "fails-at", recovers_at: "recovers-at",
};

/** What the runs showed, in a sentence. */
function seen(panels) {
  const [first, second] = panels.map(({ prepared: { name }, finished: { summary } }) => ({
    name, mean: summary.fct.all?.seconds.mean, ...summary.totals,
  }));
  const seed = `(seed ${panels[0].prepared.seed} alone).`;
  const idle = [first, second].find((side) => side && !side.mean);
  if (idle) return `Under ${idle.name} no flow has finished ${seed}`;
  const took = `A flow took ${milliseconds(first.mean)} on average under ${first.name}`;
  if (!second) return `${took} ${seed}`;
  // As in reports: means of what has not ended, or is overloaded, have no ratio.
  const isJudged = first.unfinished + second.unfinished === 0 && panels.every((panel) => !panel.finished.state.startsWith("overloaded"));
  const ratio = isJudged ? ` (${(second.mean / first.mean).toPrecision(2)} times as long)` : "";
  const lost = first.lost_to_failures + second.lost_to_failures
    ? `; the failure cost ${first.name} ${count(first.lost_to_failures)} packets, ${second.name} ${count(second.lost_to_failures)}` : "";
  return `${took}, ${milliseconds(second.mean)} under ${second.name}${ratio}${lost} ${seed}`;
}

const count = (value) => value.toLocaleString("en");
const time = (of) => (panel) => {
  const all = panel.finished.summary.fct.all;
  return all ? milliseconds(of(all)) : "-";
};
const total = (name) => (panel) => count(panel.finished.summary.totals[name]);
const FIGURES = [
  ["mean completion time", time((all) => all.seconds.mean)],
  ["median", time((all) => all.seconds.p50)],
  ["99th percentile", time((all) => all.seconds.p99)],
  ["state", (panel) => panel.finished.state],
  ["unfinished flows", total("unfinished")],
  ["drops", total("dropped")],
  ["lost to the failure", total("lost_to_failures")],
  ["retransmissions", total("retransmitted")],
  ["timeouts", total("timeouts")],
  ["packet-hops", total("packet_hops")],
  ["computed in", (panel) => `${panel.seconds.toFixed(1)} s`, "seconds"],
  ["digest", (panel) => panel.finished.summary.digest, "digest"],
];

/** Seconds as milliseconds, three digits or so. */
function milliseconds(seconds) {
  const value = seconds * 1000;
  return `${value >= 100 ? value.toFixed(1) : value >= 1 ? value.toFixed(2) : value.toFixed(3)} ms`;
}

function element(tag, text = "", name = "") {
  const node = document.createElement(tag);
  node.textContent = text;
  if (name) node.className = name;
  return node;
}

/** Replaces the options of a list, and keeps what is chosen. */
function fill(list, options) {
  const before = list.value;
  list.replaceChildren(...options.map((option) => Object.assign(document.createElement("option"), {
    value: option.value, textContent: option.label, title: option.title ?? "", disabled: option.disabled ?? false,
  })));
  if (options.some(({ value }) => String(value) === before)) list.value = before;
}

/** A button that saves the scenario file of one side. */
function saveButton({ name, file }) {
  const button = element("button", `Save ${name}.toml`);
  button.type = "button";
  button.addEventListener("click", () => {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([file], { type: "application/toml" }));
    link.download = `${name}.toml`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  });
  return button;
}

/** The module in the page: base64 of what gzip made of it. */
async function load() {
  const compressed = Uint8Array.from(atob(byId("module").textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const module = await WebAssembly.compile(await new Response(stream).arrayBuffer());
  // Classic, and by its text: the same text makes the worker.
  const script = document.createElement("script");
  script.textContent = byId("glue").textContent;
  document.head.append(script);
  wasm_bindgen.initSync({ module });
  return module;
}

load().then((module) => new Page(module)).catch((error) => {
  byId("error").textContent = `error: the simulator does not start in this browser: ${error}`;
  byId("error").hidden = false;
  byId("status").textContent = "";
  document.body.dataset.state = "error";
});
