// A run's panel: the drawing with its links, the flows that have finished.

"use strict";

const LEVEL = { full: 250, down: 255, steps: 10 };

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
    this.bar.setAttribute("aria-label", `Flows finished under ${prepared.name}`);
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
    return [44 + share(bytes, 3, 8) * (this.width - 72), 168 - share(seconds, -5, 0) * 156];
  }

  /** Empty axes, of the width that the canvas has on the screen. */
  clear() {
    const context = this.canvas.getContext("2d");
    this.width = Math.max(this.canvas.clientWidth, 240);
    [this.canvas.width, this.canvas.height] = [this.width * devicePixelRatio, 200 * devicePixelRatio];
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    context.strokeStyle = this.colour("--grid");
    context.fillStyle = this.colour("--muted");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    for (const [seconds, label] of [[1e-5, "10 µs"], [1e-4, "100 µs"], [1e-3, "1 ms"], [1e-2, "10 ms"], [1e-1, "100 ms"], [1, "1 s"]]) {
      const [x, y] = this.place(1e3, seconds);
      this.line(context, [x, y], [this.width - 28, y]);
      context.fillText(label, x - 4, y + 4);
    }
    context.textAlign = "center";
    for (const [bytes, label] of [[1e3, "1 KB"], [1e4, "10 KB"], [1e5, "100 KB"], [1e6, "1 MB"], [1e7, "10 MB"], [1e8, "100 MB"]]) {
      const [x, y] = this.place(bytes, 1e-5);
      context.fillText(label, x, y + 16);
    }
    context.fillText("completion time over size of each flow", this.width / 2, 197);
  }

  line(context, from, to) {
    context.beginPath();
    context.moveTo(...from);
    context.lineTo(...to);
    context.stroke();
  }
}
