// Plots: the values under the cursor, series that hide and show, the other scale, downloads.

/** The map from values to positions that a drawing was made with. */
class Mapping {
  constructor(text) {
    const [scale, ...ends] = text.split(" ");
    const log = scale === "log";
    this.bend = log ? Math.log10 : (value) => value;
    this.unbend = log ? (value) => 10 ** value : (value) => value;
    [this.from, this.to, this.low, this.high] = ends.map(Number);
  }
  at(value) {
    const [low, high] = [this.bend(this.low), this.bend(this.high)];
    return this.from + ((this.bend(value) - low) / (high - low)) * (this.to - this.from);
  }
  holds(value) {
    return value >= this.low && value <= this.high;
  }
}

const mapsOf = (svg) => ({ x: new Mapping(svg.dataset.x), y: new Mapping(svg.dataset.y) });

/** A series, for looking up values. */
class Curve {
  constructor({ name, style, paint, points }) {
    Object.assign(this, { name, style, paint, points: points.filter((point) => point) });
    // A point after a gap is not joined to the one before.
    this.starts = new Set(points.filter((point, i) => point && !points[i - 1]));
    const ascends = this.points.every((point, i) => i === 0 || point[0] >= this.points[i - 1][0]);
    if (!ascends) this.style = "markers";
  }

  /** The value at x as { y, low, high } or, on a line between two points, { y, between }; else nothing. */
  at(x, maps) {
    const past = this.points.findIndex((point) => point[0] > x);
    const next = past < 0 ? this.points.length : past;
    const here = this.style === "markers" ? this.points.find((point) => point[0] === x) : this.points[next - 1];
    if (!here) return undefined;
    const [left, y, low, high] = here;
    if (left === x) return { y, low, high };
    if (past < 0 || this.starts.has(this.points[next])) return undefined;
    if (this.style === "step") return { y };
    return this.between(here, this.points[next], x, maps);
  }

  /** Where the straight line of the drawing passes. */
  between([left, a], [right, b], x, { x: across, y: up }) {
    const share = (across.at(x) - across.at(left)) / (across.at(right) - across.at(left));
    const y = up.unbend(up.bend(a) + share * (up.bend(b) - up.bend(a)));
    return Number.isFinite(y) ? { y, between: true } : undefined;
  }
}

class PlotFigure {
  constructor(figure) {
    const { x, y, series } = dataOf(figure);
    Object.assign(this, { figure, x, y, hidden: new Set(), curves: series.map((one) => new Curve(one)) });
    figure.classList.add("live");
    all(figure, "svg").forEach((svg) => listen(svg, this));
    all(figure, ".key").forEach((key) => this.wireKey(key));
    all(figure, "[data-do]").forEach((button) => this.wireTool(button));
  }

  /** The drawing on show. */
  get svg() {
    return all(this.figure, "svg").find((svg) => svg.getClientRects().length > 0);
  }

  get shown() {
    return this.curves.filter((curve) => !this.hidden.has(curve.name));
  }

  // -- The legend

  wireKey(key) {
    const name = key.dataset.series;
    Object.entries({ role: "button", tabindex: "0", "aria-pressed": "true", "aria-label": name })
      .forEach(([attribute, value]) => key.setAttribute(attribute, value));
    append(key, "title", {}, "Click to hide or show; with Shift in all plots");
    const toggle = ({ shiftKey }) => {
      const show = this.hidden.has(name);
      (shiftKey ? plots : [this]).forEach((plot) => plot.show(name, show));
    };
    key.addEventListener("click", toggle);
    key.addEventListener("keydown", (event) => {
      if (event.key !== " " && event.key !== "Enter") return;
      event.preventDefault();
      toggle(event);
    });
    key.addEventListener("pointerenter", () => this.light(name));
    key.addEventListener("pointerleave", () => this.light(null));
  }

  /** Shows or hides a series in every drawing of the plot. */
  show(name, show) {
    show ? this.hidden.delete(name) : this.hidden.add(name);
    this.stopsNow = undefined;
    all(this.figure, "[data-series]").filter((part) => part.dataset.series === name).forEach((part) => {
      part.classList.toggle("off", !show);
      if (part.matches(".key")) part.setAttribute("aria-pressed", show);
    });
  }

  /** Lets one series stand out while the pointer is on its legend entry. */
  light(name) {
    this.figure.classList.toggle("faded", name !== null && !this.hidden.has(name));
    all(this.figure, ".series").forEach((part) => part.classList.toggle("lit", part.dataset.series === name));
  }

  // -- The cursor: an upright line at one x, with the value of every series there

  /** Every x at which a series on show has a point, ascending. */
  stops(maps) {
    const xs = () => this.shown.flatMap((curve) => curve.points.map((point) => point[0])).filter((x) => maps.x.holds(x));
    this.stopsNow ??= [...new Set(xs())].sort((a, b) => a - b);
    return this.stopsNow;
  }

  follow(svg, clientX, clientY) {
    const maps = mapsOf(svg);
    const { x, y } = placeIn(svg, clientX, clientY);
    const inside = x >= maps.x.from - 8 && x <= maps.x.to + 8 && y <= maps.y.from + 8 && y >= maps.y.to - 8;
    const gap = (stop) => Math.abs(maps.x.at(stop) - x);
    const stops = inside ? this.stops(maps) : [];
    if (!stops.length) return this.leave(svg);
    this.point(svg, maps, stops.reduce((best, stop) => (gap(stop) < gap(best) ? stop : best)), [clientX, clientY]);
  }

  /** Moves the cursor by a key; true if the key means anything. */
  step(svg, key) {
    const maps = mapsOf(svg);
    const stops = this.stops(maps);
    const last = stops.length - 1;
    const here = stops.indexOf(this.cursor);
    const moves = { ArrowLeft: here < 0 ? last : here - 1, ArrowRight: here + 1, Home: 0, End: last };
    if (key === "Escape") this.leave(svg);
    if (!(key in moves) || last < 0) return key === "Escape";
    const x = stops[clamp(moves[key], 0, last)];
    const at = placeOut(svg, maps.x.at(x), (maps.y.from + maps.y.to) / 2);
    this.point(svg, maps, x, [at.x, at.y]);
    return true;
  }

  /** Draws the cursor at x and tells the values, the largest on top. */
  point(svg, maps, x, place) {
    this.leave(svg);
    this.cursor = x;
    const found = this.shown.map((curve) => ({ ...curve, ...curve.at(x, maps) }))
      .filter(({ y }) => y !== undefined).sort((a, b) => b.y - a.y);
    const [left, group] = [maps.x.at(x), append(svg, "g", { class: "cursor" })];
    append(group, "path", { d: `M${left} ${maps.y.from}V${maps.y.to}`, stroke: "var(--muted)" });
    for (const { y, paint } of found.filter(({ y }) => maps.y.holds(y))) {
      append(group, "circle", { cx: left, cy: maps.y.at(y), r: 5, fill: "none", stroke: paint, "stroke-width": 2 });
    }
    showTip(`${this.x.label}: ${withUnit(x, this.x)}`, found.map((value) => this.row(value)), place);
  }

  row({ paint, name, y, low, high, between }) {
    const note = low === undefined ? "" : `${withUnit(low, this.y)} … ${withUnit(high, this.y)}`;
    return { paint, name, value: (between ? "≈ " : "") + withUnit(y, this.y), note };
  }

  leave(svg) {
    all(svg, ".cursor").forEach((cursor) => cursor.remove());
    this.cursor = undefined;
    hideTip();
  }

  // -- The buttons

  wireTool(button) {
    const name = this.svg?.dataset.name;
    const actions = {
      scale: () => this.switchScale(button),
      svg: () => saveSvg(this.svg),
      png: () => savePng(this.svg),
      csv: () => save(this.csv(), "text/csv", `${name}.csv`),
    };
    button.addEventListener("click", actions[button.dataset.do]);
    if (button.dataset.do === "scale") button.setAttribute("aria-pressed", this.figure.dataset.scale === "log");
  }

  switchScale(button) {
    const scale = this.figure.dataset.scale === "log" ? "linear" : "log";
    this.figure.dataset.scale = scale;
    button.setAttribute("aria-pressed", scale === "log");
  }

  csv() {
    const cell = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
    const title = ({ label, unit }) => (unit ? `${label} [${unit}]` : label);
    const rows = this.curves.flatMap(({ name, points }) => points.map((point) => [name, ...point]));
    return [["series", title(this.x), title(this.y), "low", "high"], ...rows]
      .map((row) => `${row.map(cell).join(",")}\n`).join("");
  }
}

const plots = all(document, "figure.plot").map((figure) => new PlotFigure(figure));
