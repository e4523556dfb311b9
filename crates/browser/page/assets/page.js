// The page: controls, drawings of two runs, results. What is simulated, and what can be chosen, comes from the module.

"use strict";

const byId = (id) => document.getElementById(id);
const LEVEL = { full: 250, down: 255, steps: 10 };
const REPLAY_SECONDS = 8;

/** A run's panel: what the worker has told, and what is shown of it. */
class Panel {
  constructor(prepared, choice) {
    this.prepared = prepared;
    this.choice = choice;
    this.rows = [];
    this.node = byId("panel").content.cloneNode(true).firstElementChild;
    const part = (selector) => this.node.querySelector(selector);
    part(".drawing").innerHTML = prepared.drawing;
    this.lines = [...part(".drawing").querySelectorAll("line[data-i]")];
    this.links = part("svg .links");
    this.clock = part("text.when");
    [this.busiest, this.bar, this.counts] = [".busiest", "progress", ".counts"].map(part);
    this.bar.setAttribute("aria-label", `Flows finished under ${prepared.scheme}`);
    this.dots = new Dots(part("canvas"));
    this.shown = undefined;
  }

  /** The time of the last row. */
  get end() {
    return this.rows.length ? this.rows[this.rows.length - 1].at : 0;
  }

  add(row) {
    const before = this.rows[this.rows.length - 1];
    const sum = (values, every, first) => values.reduce((total, value, i) => total + (i % every === first ? value : 0), 0);
    row.finished = (before ? before.finished : 0) + row.flows.length / 2;
    row.seconds = (before ? before.seconds : 0) + sum(row.flows, 2, 1);
    row.drops = (before ? before.drops : 0) + row.dropped;
    this.rows.push(row);
  }

  /** Shows the run at a time: the last sample until then. */
  show(at) {
    let [low, high] = [0, this.rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.rows[middle].at <= at + 1e-12) low = middle + 1;
      else high = middle;
    }
    const index = Math.max(low, 1) - 1;
    if (index === this.shown || !this.rows.length) return;
    this.paint(this.rows[index]);
    this.dots.show(this.rows, index);
    this.shown = index;
  }

  paint(row) {
    for (const line of this.lines) {
      const level = row.levels[line.dataset.i];
      const step = Math.min(Math.floor((level / LEVEL.full) * LEVEL.steps), LEVEL.steps - 1);
      const isDown = level === LEVEL.down;
      line.setAttribute("stroke", isDown ? "var(--axis)" : `var(--u${step})`);
      line.setAttribute("stroke-dasharray", isDown ? "2 3" : "none");
    }
    this.clock.textContent = milliseconds(row.at);
    const busiest = busiestOf(row.levels);
    // One big switch (`ideal`) has none of the fabric's links.
    this.links.style.display = busiest < 0 ? "none" : "";
    const percent = Math.round((100 * row.levels[busiest]) / LEVEL.full);
    this.busiest.textContent = busiest < 0 ? "One big switch: no links between switches" : `Busiest: ${this.prepared.lanes[busiest]}, ${percent} %`;
    const flows = this.prepared.flows;
    this.bar.max = flows || 1;
    this.bar.value = row.finished;
    const mean = row.finished ? `, mean ${milliseconds(row.seconds / row.finished)}` : "";
    this.counts.textContent = `${row.finished}${flows ? ` of ${flows}` : ""} flows finished${mean}; ${row.drops} drops between switches`;
  }
}

/** The busiest lane that is up; -1 if there is none. */
function busiestOf(levels) {
  let best = -1;
  levels.forEach((level, lane) => {
    if (level !== LEVEL.down && (best < 0 || level > levels[best])) best = lane;
  });
  return best;
}

/** Completion times over sizes, both logarithmic: a dot for each flow. */
class Dots {
  constructor(canvas) {
    this.canvas = canvas;
    this.drawn = -1;
  }

  show(rows, index) {
    if (index < this.drawn || this.drawn < 0) {
      this.clear();
      this.drawn = -1;
    }
    const context = this.canvas.getContext("2d");
    context.fillStyle = this.colour("--s0");
    for (let i = this.drawn + 1; i <= index; i += 1) {
      const { flows } = rows[i];
      for (let k = 0; k < flows.length; k += 2) {
        const [x, y] = this.place(flows[k], flows[k + 1]);
        context.beginPath();
        context.arc(x, y, 2.4, 0, 2 * Math.PI);
        context.fill();
      }
    }
    this.drawn = index;
  }

  colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name);
  }

  place(bytes, seconds) {
    const share = (value, low, high) => Math.min(Math.max((Math.log10(value) - low) / (high - low), 0), 1);
    return [44 + share(bytes, 3, 8) * 424, 168 - share(seconds, -5, 0) * 156];
  }

  clear() {
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.strokeStyle = this.colour("--grid");
    context.fillStyle = this.colour("--muted");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    for (const [seconds, label] of [[1e-5, "10 µs"], [1e-4, "100 µs"], [1e-3, "1 ms"], [1e-2, "10 ms"], [1e-1, "100 ms"], [1, "1 s"]]) {
      const [x, y] = this.place(1e3, seconds);
      this.line(context, [x, y], [468, y]);
      context.fillText(label, x - 4, y + 4);
    }
    context.textAlign = "center";
    for (const [bytes, label] of [[1e3, "1 KB"], [1e4, "10 KB"], [1e5, "100 KB"], [1e6, "1 MB"], [1e7, "10 MB"]]) {
      const [x, y] = this.place(bytes, 1e-5);
      context.fillText(label, x, y + 16);
    }
    context.fillText("completion time over size of each flow", 256, 196);
  }

  line(context, from, to) {
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  }
}

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
    byId("time").addEventListener("input", () => {
      this.pause();
      this.seek(Number(byId("time").value) / 1000);
    });
    byId("play").addEventListener("click", () => (this.player ? this.pause() : this.play()));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
    this.start(this.presets[0]);
    this.say("Ready.", "ready");
  }

  // -- Choices

  /** Begins with a preset. */
  start(preset) {
    byId("text").value = preset.text;
    [byId("link").value, byId("fails-at").value, byId("recovers-at").value] = ["", "", ""];
    const offer = this.offer();
    if (!offer) return;
    [byId("scheme-a").value, byId("scheme-b").value] = preset.schemes;
    [byId("load").value, byId("flows").value, byId("seed").value] = [offer.load ?? "", preset.flows, offer.seed];
    this.check();
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
    const schemes = offer.schemes.map(({ name, about, refusal }) => ({
      value: name, label: name, title: refusal ? `${about} Not here: ${refusal}` : about, disabled: Boolean(refusal),
    }));
    fill(byId("scheme-a"), schemes);
    fill(byId("scheme-b"), [...schemes, { value: "", label: "none" }]);
    fill(byId("link"), [{ value: "", label: "none" }, ...offer.links.map((link) => ({ value: link, label: link }))]);
    return offer;
  }

  choice(scheme) {
    const value = (id) => byId(id).value.trim();
    return {
      text: byId("text").value, scheme, load: value("load"), flows: value("flows"), seed: value("seed"),
      link: value("link"), fails_at: value("fails-at"), recovers_at: value("recovers-at"),
    };
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
    try {
      this.prepared = choices.map((choice) => [JSON.parse(wasm_bindgen.prepare(JSON.stringify(choice))), choice]);
    } catch (error) {
      this.fail(String(error));
      return;
    }
    byId("error").hidden = true;
    byId("run").disabled = this.workers.length > 0;
    byId("run").textContent = schemes.length > 1 ? "Run both" : "Run";
    this.warn(this.prepared.map(([prepared]) => prepared.warning));
    byId("saves").replaceChildren(...this.prepared.map(([prepared]) => saveButton(prepared)));
  }

  // -- Runs

  run() {
    if (byId("run").disabled) return;
    this.pause();
    this.panels = this.prepared.map(([prepared, choice]) => new Panel(prepared, choice));
    byId("panels").replaceChildren(...this.panels.map((panel) => panel.node));
    [byId("live").hidden, byId("controls").hidden, byId("results").hidden] = [false, true, true];
    this.workers = this.panels.map((panel) => this.work(panel));
    [byId("run").disabled, byId("stop").disabled] = [true, false];
    this.say(`Running ${this.panels.map((panel) => panel.prepared.scheme).join(" and ")}.`, "running");
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
    this.say("Done.", "done");
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
    [byId("run").disabled, byId("stop").disabled] = [false, true];
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

  /** Draws in the colours of the other theme. */
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
    head.append(element("th", "scheme"), ...panels.map((panel) => Object.assign(element("th", panel.prepared.scheme), { scope: "col" })));
    byId("head").replaceChildren(head);
    byId("figures").replaceChildren(...FIGURES.map(([label, figure, name]) => row(label, panels.map(figure), name)));
    const summaries = panels.map((panel) => panel.finished.summary);
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
    byId("run").disabled = true;
    byId("saves").replaceChildren();
  }

  warn(texts) {
    const distinct = [...new Set(texts.filter((text) => text))];
    byId("warnings").replaceChildren(...distinct.map((text) => element("p", `warning: ${text}`, "warning")));
  }
}

const time = (of) => (panel) => {
  const all = panel.finished.summary.fct.all;
  return all ? milliseconds(of(all)) : "-";
};
const total = (name) => (panel) => panel.finished.summary.totals[name].toLocaleString("en");
const FIGURES = [
  ["mean completion time", time((all) => all.seconds.mean)],
  ["median", time((all) => all.seconds.p50)],
  ["99th percentile", time((all) => all.seconds.p99)],
  ["state", (panel) => panel.finished.state],
  ["unfinished flows", total("unfinished")],
  ["drops", total("dropped")],
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
function saveButton({ scheme, file }) {
  const button = element("button", `Save ${scheme}.toml`);
  button.type = "button";
  button.addEventListener("click", () => {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([file], { type: "application/toml" }));
    link.download = `${scheme}.toml`;
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
