// Fabric maps: utilisation over time in all schemes at once, and the figures of one link.

const DOWN = 255;
const FULL = 250;
const MEAN = -1;

class FabricFigure {
  constructor(figure) {
    Object.assign(this, dataOf(figure), { figure, frame: MEAN });
    const part = (selector) => figure.querySelector(selector);
    [this.play, this.slider, this.output, this.mean] = [".play", "input", "output", ".mean"].map(part);
    this.panels = all(figure, ".panel");
    for (const run of this.runs) {
      run.levels = Uint8Array.from(atob(run.levels), (c) => c.charCodeAt(0));
      run.means = this.lanes.map((_, lane) => this.meanOf(run, lane));
    }
    this.slider.addEventListener("input", () => this.jump(Number(this.slider.value)));
    this.mean.addEventListener("click", () => this.jump(MEAN));
    this.play.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
    this.panels.forEach((panel, i) => this.wire(panel, all(figure, ".chip")[i]));
  }

  wire(panel, chip) {
    const svg = panel.querySelector("svg");
    listen(svg, this);
    panel.querySelector("[data-do=svg]").addEventListener("click", () => saveSvg(svg));
    panel.querySelector("[data-do=png]").addEventListener("click", () => savePng(svg));
    chip.addEventListener("click", () => {
      panel.hidden = !panel.hidden;
      chip.setAttribute("aria-pressed", !panel.hidden);
    });
  }

  // -- Time

  at(run, frame, lane) {
    return run.levels[frame * this.lanes.length + lane];
  }

  /** The mean level of a lane over the frames in which it was up. */
  meanOf(run, lane) {
    const up = this.times.map((_, frame) => this.at(run, frame, lane)).filter((level) => level !== DOWN);
    return up.length ? up.reduce((sum, level) => sum + level, 0) / up.length : DOWN;
  }

  level(run, lane) {
    return this.frame === MEAN ? run.means[lane] : this.at(run, this.frame, lane);
  }

  start() {
    const last = this.times.length - 1;
    if (this.frame >= last) this.frame = MEAN;
    // A recording takes some six seconds, unless it is very long or very short.
    const pause = clamp(6000 / (last + 1), 60, 400);
    this.timer = setInterval(() => (this.frame < last ? this.show(this.frame + 1) : this.stop()), pause);
    this.play.textContent = "Pause";
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = "Play";
  }

  jump(frame) {
    this.stop();
    this.show(frame);
  }

  /** Shows a frame, or the mean of all. */
  show(frame) {
    this.frame = frame;
    const events = this.events.filter(([at]) => at === frame).map(([, event]) => `, ${event}`).join("");
    const when = frame === MEAN ? "mean" : withUnit(this.times[frame], { unit: "s", si: true }) + events;
    this.output.textContent = when;
    this.slider.value = Math.max(frame, 0);
    this.slider.setAttribute("aria-valuetext", when);
    this.mean.setAttribute("aria-pressed", frame === MEAN);
    const label = frame === MEAN ? `mean of ${this.times.length} frames` : when;
    this.panels.forEach((panel, i) => this.paint(panel, this.runs[i], label));
    if (this.pointer) this.tell();
  }

  paint(panel, run, label) {
    panel.querySelector(".when").textContent = label;
    for (const line of all(panel, "line")) {
      const level = this.level(run, Number(line.dataset.i));
      const step = Math.min(Math.floor((level / FULL) * this.ramp.length), this.ramp.length - 1);
      line.setAttribute("stroke", level === DOWN ? this.down : this.ramp[step]);
      line.setAttribute("stroke-dasharray", level === DOWN ? "2 3" : "none");
    }
  }

  // -- One direction of one link, in all maps on show

  follow(svg, x, y) {
    const place = placeIn(svg, x, y);
    const near = all(svg, "line").map((line) => ({ gap: distance(place, line), lane: Number(line.dataset.i) }))
      .reduce((best, one) => (one.gap < best.gap ? one : best), { gap: Infinity });
    near.gap > 8 ? this.leave() : this.point(near.lane, [x, y]);
  }

  step(svg, key) {
    if (key === "Escape") this.leave();
    const move = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const lines = all(svg, "line");
    if (!move || !lines.length) return key === "Escape";
    const here = lines.findIndex((line) => Number(line.dataset.i) === this.lane);
    const line = lines[clamp(here + move, 0, lines.length - 1)];
    const { left, right, top, bottom } = line.getBoundingClientRect();
    this.point(Number(line.dataset.i), [(left + right) / 2, (top + bottom) / 2]);
    return true;
  }

  point(lane, pointer) {
    Object.assign(this, { lane, pointer });
    all(this.figure, "line").forEach((line) => line.classList.toggle("dim", Number(line.dataset.i) !== lane));
    this.tell();
  }

  tell() {
    const [ends, about] = this.lanes[this.lane];
    const text = (level) => (level === DOWN ? "down" : `${((100 * level) / FULL).toFixed(0)} %`);
    const shown = this.runs.filter((_, i) => !this.panels[i].hidden);
    const rows = shown.map((run) => ({ name: run.name, value: text(this.level(run, this.lane)) }));
    showTip(about ? `${ends} (${about})` : ends, rows, this.pointer);
  }

  leave() {
    all(this.figure, "line").forEach((line) => line.classList.remove("dim"));
    Object.assign(this, { lane: undefined, pointer: undefined });
    hideTip();
  }
}

/** From a place to a line of a drawing. */
function distance({ x, y }, line) {
  const [x1, y1, x2, y2] = ["x1", "y1", "x2", "y2"].map((end) => Number(line.getAttribute(end)));
  const [dx, dy] = [x2 - x1, y2 - y1];
  const share = clamp(((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1), 0, 1);
  return Math.hypot(x - x1 - share * dx, y - y1 - share * dy);
}

all(document, "figure.fabric").forEach((figure) => new FabricFigure(figure));
all(document, "figure.heat").forEach((figure) => {
  const shown = () => all(figure, "svg").find((svg) => svg.getClientRects().length > 0);
  figure.querySelector("[data-do=svg]").addEventListener("click", () => saveSvg(shown()));
  figure.querySelector("[data-do=png]").addEventListener("click", () => savePng(shown()));
});

// ---- The page: light or dark by hand, the system's choice until then; all controls come alive -------

all(document, ".theme").forEach((button) => button.addEventListener("click", () => {
  const root = document.documentElement;
  root.dataset.theme = getComputedStyle(root).colorScheme === "dark" ? "light" : "dark";
}));
all(document, ".tools, .controls, .theme").forEach((part) => { part.hidden = false; });
