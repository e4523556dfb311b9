// Everything a report does beyond showing itself. Without this script the page is complete; with it,
// plots tell values, hide series, change scale and can be saved, and fabric maps play over time.
// No drawing happens here but the cursor: the page holds each plot drawn for every size and scale.
"use strict";
(() => {
  const all = (root, selector) => [...root.querySelectorAll(selector)];
  const dataOf = (figure) => JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  /** A new element; SVG if its parent is. */
  function append(parent, tag, attributes = {}, text = "") {
    const element = document.createElementNS(parent.namespaceURI, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = text;
    return parent.appendChild(element);
  }

  // ---- Numbers as text -------------------------------------------------------------------------

  const PREFIXES = { "-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" };

  /** Four significant digits, without trailing zeros. */
  function digits(value) {
    const size = Math.abs(value);
    if (value === 0) return "0";
    if (size >= 1e7 || size < 1e-4) return value.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
    const text = value.toPrecision(4);
    return String(Number(text)).replace("-", "−");
  }

  /** A value with its unit: 0.00025 s is "250 µs". */
  function withUnit(value, { unit, si }) {
    if (!si || value === 0) return digits(value) + (unit ? ` ${unit}` : "");
    const highest = unit === "s" ? 0 : 12;
    const power = clamp(3 * Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-12), -12, highest);
    return `${digits(value / 10 ** power)} ${PREFIXES[power]}${unit}`;
  }

  // ---- The tip: one box for the whole page --------------------------------------------------------

  const tip = append(document.body, "div", { class: "tip", role: "status", hidden: "" });

  /** Shows a heading and rows of [colour or null, name, value] beside a point of the window. */
  function showTip(heading, rows, x, y) {
    tip.textContent = "";
    append(tip, "b", {}, heading);
    const table = append(tip, "table");
    for (const [colour, name, value] of rows) {
      const row = append(table, "tr");
      const cell = append(row, "td");
      if (colour) append(cell, "i").style.background = colour;
      cell.append(name);
      append(row, "td", {}, value);
    }
    tip.hidden = false;
    const { width, height } = tip.getBoundingClientRect();
    const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
    tip.style.left = `${clamp(left, 4, Math.max(4, innerWidth - width - 4))}px`;
    tip.style.top = `${clamp(y - height / 2, 4, Math.max(4, innerHeight - height - 4))}px`;
  }

  const hideTip = () => { tip.hidden = true; };

  // ---- Positions ------------------------------------------------------------------------------

  /** The map from values to positions that the drawing was made with. */
  class Mapping {
    constructor(text) {
      const [scale, ...ends] = text.split(" ");
      this.bend = scale === "log" ? Math.log10 : (value) => value;
      [this.from, this.to, this.low, this.high] = ends.map(Number);
    }
    at(value) {
      const [low, high] = [this.bend(this.low), this.bend(this.high)];
      return this.from + ((this.bend(value) - low) / (high - low)) * (this.to - this.from);
    }
    /** Whether a value lies on the axis. */
    holds(value) {
      return value >= this.low && value <= this.high;
    }
  }

  /** A pointer event's place in the units of a drawing. */
  const placeIn = (svg, event) =>
    new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());

  /** A place in a drawing, in pixels of the window. */
  const placeOut = (svg, x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());

  // ---- Plots ----------------------------------------------------------------------------------

  /** A series of a plot, for looking up values. */
  class Curve {
    constructor({ name, style, paint, points }) {
      Object.assign(this, { name, style, paint });
      this.points = points.filter((point) => point);
      // A point after a gap is not joined to the one before.
      const gaps = new Set(points.filter((point, i) => point && i > 0 && !points[i - 1]));
      this.joined = (i) => !gaps.has(this.points[i]);
      const ascending = this.points.every((point, i) => i === 0 || point[0] >= this.points[i - 1][0]);
      if (!ascending) this.style = "markers";
    }

    /** The value at x as { y, low, high, between }, or null where the curve is not. */
    at(x, yMap) {
      if (this.style === "markers") return this.exact(this.points.findIndex((point) => point[0] === x));
      const next = this.points.findIndex((point) => point[0] > x);
      const i = next < 0 ? this.points.length - 1 : next - 1;
      if (i < 0) return null;
      if (this.points[i][0] === x) return this.exact(i);
      if (next < 0 || !this.joined(next)) return null;
      if (this.style === "step") return this.exact(i);
      return this.between(this.points[i], this.points[next], x, yMap);
    }

    exact(i) {
      if (i < 0) return null;
      const [, y, low, high] = this.points[i];
      return { y, low, high, between: false };
    }

    /** On the straight line of the drawing; only the x axis is taken as it is drawn. */
    between(a, b, x, { x: xMap, y: yMap }) {
      const share = (xMap.at(x) - xMap.at(a[0])) / (xMap.at(b[0]) - xMap.at(a[0]));
      const [low, high] = [yMap.bend(a[1]), yMap.bend(b[1])];
      const bent = low + share * (high - low);
      const y = yMap.bend === Math.log10 ? 10 ** bent : bent;
      return Number.isFinite(y) ? { y, between: true } : null;
    }
  }

  const plots = [];

  class PlotFigure {
    constructor(figure) {
      this.figure = figure;
      const { x, y, series } = dataOf(figure);
      Object.assign(this, { x, y, curves: series.map((one) => new Curve(one)), hidden: new Set() });
      figure.classList.add("live");
      all(figure, "svg").forEach((svg) => this.wire(svg));
      all(figure, "[data-do]").forEach((button) => this.wireTool(button));
    }

    /** The drawing on show. */
    get svg() {
      return all(this.figure, "svg").find((svg) => svg.getClientRects().length > 0);
    }

    wire(svg) {
      svg.setAttribute("role", "group");
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("pointermove", (event) => this.follow(svg, event));
      svg.addEventListener("pointerleave", () => this.leave(svg));
      svg.addEventListener("blur", () => this.leave(svg));
      svg.addEventListener("keydown", (event) => this.step(svg, event));
      all(svg, ".key").forEach((key) => this.wireKey(svg, key));
    }

    wireKey(svg, key) {
      const name = key.dataset.series;
      const attributes = { role: "button", tabindex: "0", "aria-pressed": "true", "aria-label": name };
      Object.entries(attributes).forEach(([attribute, value]) => key.setAttribute(attribute, value));
      append(key, "title", {}, "Click to hide or show; with Shift in all plots");
      const toggle = (event) => {
        const shown = this.hidden.has(name);
        (event.shiftKey ? plots : [this]).forEach((plot) => plot.show(name, shown));
        event.preventDefault();
        event.stopPropagation();
      };
      key.addEventListener("click", toggle);
      key.addEventListener("keydown", (event) => [" ", "Enter"].includes(event.key) && toggle(event));
      key.addEventListener("pointerenter", () => this.light(svg, name));
      key.addEventListener("pointerleave", () => this.light(svg, null));
    }

    wireTool(button) {
      const actions = {
        scale: () => this.switchScale(button),
        svg: () => saveSvg(this.svg),
        png: () => savePng(this.svg),
        csv: () => save(this.csv(), "text/csv", `${this.svg.dataset.name}.csv`),
      };
      button.addEventListener("click", actions[button.dataset.do]);
      if (button.dataset.do === "scale") button.setAttribute("aria-pressed", this.figure.dataset.scale === "log");
    }

    switchScale(button) {
      const scale = this.figure.dataset.scale === "log" ? "linear" : "log";
      this.figure.dataset.scale = scale;
      button.setAttribute("aria-pressed", scale === "log");
    }

    /** Shows or hides a series in every drawing of the plot. */
    show(name, shown) {
      shown ? this.hidden.delete(name) : this.hidden.add(name);
      all(this.figure, "[data-series]").filter((part) => part.dataset.series === name).forEach((part) => {
        part.classList.toggle("off", !shown);
        if (part.classList.contains("key")) part.setAttribute("aria-pressed", shown);
      });
    }

    /** Lets one series stand out while the pointer is on its legend entry. */
    light(svg, name) {
      svg.classList.toggle("faded", name !== null && !this.hidden.has(name));
      all(svg, ".series").forEach((part) => part.classList.toggle("lit", part.dataset.series === name));
    }

    // -- The cursor: an upright line at one x, with the value of every series there

    maps(svg) {
      return { x: new Mapping(svg.dataset.x), y: new Mapping(svg.dataset.y) };
    }

    /** Every x at which a visible series has a point, ascending. */
    stops(maps) {
      const shown = this.curves.filter((curve) => !this.hidden.has(curve.name));
      const xs = shown.flatMap((curve) => curve.points.map((point) => point[0]));
      return [...new Set(xs)].filter((x) => maps.x.holds(x)).sort((a, b) => a - b);
    }

    follow(svg, event) {
      const maps = this.maps(svg);
      const place = placeIn(svg, event);
      const inside = place.x >= maps.x.from - 8 && place.x <= maps.x.to + 8
        && place.y <= maps.y.from + 8 && place.y >= maps.y.to - 8;
      const stops = inside ? this.stops(maps) : [];
      if (!stops.length) return this.leave(svg);
      const distance = (x) => Math.abs(maps.x.at(x) - place.x);
      this.point(svg, maps, stops.reduce((best, x) => (distance(x) < distance(best) ? x : best)), event);
    }

    step(svg, event) {
      const maps = this.maps(svg);
      const stops = this.stops(maps);
      const here = stops.indexOf(this.cursor);
      const moves = { ArrowLeft: here < 0 ? stops.length - 1 : here - 1, ArrowRight: here + 1, Home: 0, End: stops.length - 1 };
      if (event.key === "Escape") return this.leave(svg);
      if (!(event.key in moves) || !stops.length) return;
      event.preventDefault();
      const x = stops[clamp(moves[event.key], 0, stops.length - 1)];
      const at = placeOut(svg, maps.x.at(x), (maps.y.from + maps.y.to) / 2);
      this.point(svg, maps, x, { clientX: at.x, clientY: at.y });
    }

    /** Draws the cursor at x and tells the values. */
    point(svg, maps, x, { clientX, clientY }) {
      this.leave(svg);
      this.cursor = x;
      const cursor = append(svg, "g", { class: "cursor" });
      const left = maps.x.at(x);
      append(cursor, "path", { d: `M${left} ${maps.y.from}V${maps.y.to}`, stroke: "var(--muted)", "stroke-width": 1 });
      const found = this.curves
        .filter((curve) => !this.hidden.has(curve.name))
        .map((curve) => [curve, curve.at(x, maps)])
        .filter(([, value]) => value)
        .sort(([, a], [, b]) => b.y - a.y);
      for (const [curve, { y }] of found.filter(([, value]) => maps.y.holds(value.y))) {
        append(cursor, "circle", { cx: left, cy: maps.y.at(y), r: 4.5, fill: "none", stroke: curve.paint, "stroke-width": 2 });
      }
      const rows = found.map(([curve, value]) => [curve.paint, curve.name, this.text(value)]);
      showTip(`${this.x.label}: ${withUnit(x, this.x)}`, rows, clientX, clientY);
    }

    text({ y, low, high, between }) {
      const bar = low === undefined ? "" : ` (${withUnit(low, this.y)} to ${withUnit(high, this.y)})`;
      return (between ? "≈ " : "") + withUnit(y, this.y) + bar;
    }

    leave(svg) {
      all(svg, ".cursor").forEach((cursor) => cursor.remove());
      this.cursor = undefined;
      hideTip();
    }

    csv() {
      const cell = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : value);
      const rows = this.curves.flatMap(({ name, points }) => points.map((point) => [name, ...point]));
      const title = ({ label, unit }) => (unit ? `${label} [${unit}]` : label);
      const header = ["series", title(this.x), title(this.y), "low", "high"];
      return [header, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
    }
  }

  // ---- Files ----------------------------------------------------------------------------------

  function save(content, type, name) {
    const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const link = append(document.body, "a", { href: url, download: name });
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  /** A drawing as a file of its own: light colours, its title on top, without what is hidden. */
  function standalone(svg) {
    const copy = svg.cloneNode(true);
    all(copy, ".cursor, .off, .key title").forEach((part) => part.remove());
    const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    const head = Number(svg.dataset.head);
    const size = { width, height: height + head };
    const box = { ...size, viewBox: `0 ${-head} ${width} ${height + head}` };
    Object.entries(box).forEach(([name, value]) => copy.setAttribute(name, value));
    ["class", "tabindex", "data-x", "data-y"].forEach((name) => copy.removeAttribute(name));
    const sheet = append(copy, "rect", { y: -head, ...size, fill: "#ffffff" });
    copy.prepend(sheet);
    const text = new XMLSerializer().serializeToString(copy);
    return { ...size, text: text.replace(/var\(--\w+,\s*(#\w+)\)/g, "$1") };
  }

  const saveSvg = (svg) => save(standalone(svg).text, "image/svg+xml", `${svg.dataset.name}.svg`);

  function savePng(svg) {
    const { text, width, height } = standalone(svg);
    const image = new Image();
    image.onload = () => {
      const canvas = append(document.body, "canvas", { width: 2 * width, height: 2 * height, hidden: "" });
      canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
      canvas.toBlob((blob) => save(blob, "image/png", `${svg.dataset.name}.png`));
      canvas.remove();
    };
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  }

  // ---- Fabric maps ----------------------------------------------------------------------------

  const DOWN = 255;
  const FULL = 250;
  const MEAN = -1;

  class FabricFigure {
    constructor(figure) {
      Object.assign(this, dataOf(figure), { figure, frame: MEAN, lane: -1 });
      this.panels = all(figure, ".panel");
      this.runs.forEach((run) => { run.levels = Uint8Array.from(atob(run.levels), (c) => c.charCodeAt(0)); });
      this.runs.forEach((run) => { run.means = this.means(run); });
      const part = (selector) => figure.querySelector(selector);
      [this.play, this.slider, this.output, this.mean] = [".play", "input", "output", ".mean"].map(part);
      this.slider.addEventListener("input", () => { this.stop(); this.show(Number(this.slider.value)); });
      this.play.addEventListener("click", () => (this.timer ? this.stop() : this.start()));
      this.mean.addEventListener("click", () => { this.stop(); this.show(MEAN); });
      this.panels.forEach((panel, i) => this.wire(panel, all(figure, ".chip")[i]));
      this.show(MEAN);
    }

    wire(panel, chip) {
      const svg = panel.querySelector("svg");
      svg.setAttribute("tabindex", "0");
      svg.addEventListener("pointermove", (event) => this.follow(svg, event));
      svg.addEventListener("pointerleave", () => this.leave());
      svg.addEventListener("blur", () => this.leave());
      svg.addEventListener("keydown", (event) => this.step(svg, event));
      panel.querySelector("[data-do=svg]").addEventListener("click", () => saveSvg(svg));
      panel.querySelector("[data-do=png]").addEventListener("click", () => savePng(svg));
      chip.addEventListener("click", () => {
        panel.hidden = !panel.hidden;
        chip.setAttribute("aria-pressed", !panel.hidden);
      });
    }

    /** The level of every lane over the frames in which it was up. */
    means({ levels }) {
      return this.lanes.map((_, lane) => {
        const up = this.times.map((_, frame) => levels[frame * this.lanes.length + lane]).filter((level) => level !== DOWN);
        return up.length ? up.reduce((sum, level) => sum + level, 0) / up.length : DOWN;
      });
    }

    level(run, lane) {
      return this.frame === MEAN ? run.means[lane] : run.levels[this.frame * this.lanes.length + lane];
    }

    /** Shows a frame, or the mean of all. */
    show(frame) {
      this.frame = frame;
      const when = frame === MEAN ? "mean" : withUnit(this.times[frame], { unit: "s", si: true });
      this.output.textContent = when;
      this.slider.value = Math.max(frame, 0);
      this.slider.setAttribute("aria-valuetext", when);
      this.mean.setAttribute("aria-pressed", frame === MEAN);
      this.panels.forEach((panel, i) => this.paint(panel, this.runs[i]));
      if (this.pointer) this.tell();
    }

    paint(panel, run) {
      const when = this.frame === MEAN ? `mean of ${this.times.length} frames` : this.output.textContent;
      panel.querySelector(".when").textContent = when;
      for (const line of all(panel, ".links line")) {
        const level = this.level(run, Number(line.dataset.i));
        const step = Math.min(Math.floor((level / FULL) * this.ramp.length), this.ramp.length - 1);
        line.setAttribute("stroke", level === DOWN ? this.down : this.ramp[step]);
        level === DOWN ? line.setAttribute("stroke-dasharray", "2 3") : line.removeAttribute("stroke-dasharray");
      }
    }

    start() {
      const last = this.times.length - 1;
      if (this.frame >= last) this.frame = MEAN;
      // The whole recording takes at least six seconds.
      const pause = clamp(6000 / (last + 1), 60, 400);
      this.timer = setInterval(() => (this.frame < last ? this.show(this.frame + 1) : this.stop()), pause);
      this.play.textContent = "Pause";
    }

    stop() {
      clearInterval(this.timer);
      this.timer = undefined;
      this.play.textContent = "Play";
    }

    // -- The tip: one direction of one link, in all maps on show

    follow(svg, event) {
      const place = placeIn(svg, event);
      const near = all(svg, ".links line").map((line) => [distance(place, line), Number(line.dataset.i)]);
      const [gap, lane] = near.reduce((best, one) => (one[0] < best[0] ? one : best), [Infinity, -1]);
      if (gap > 8) return this.leave();
      this.point(lane, event.clientX, event.clientY);
    }

    step(svg, event) {
      if (event.key === "Escape") return this.leave();
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const lines = all(svg, ".links line");
      if (!move || !lines.length) return;
      event.preventDefault();
      const here = lines.findIndex((line) => Number(line.dataset.i) === this.lane);
      const line = lines[clamp(here + move, 0, lines.length - 1)];
      const { left, right, top, bottom } = line.getBoundingClientRect();
      this.point(Number(line.dataset.i), (left + right) / 2, (top + bottom) / 2);
    }

    point(lane, x, y) {
      Object.assign(this, { lane, pointer: [x, y] });
      all(this.figure, ".links line").forEach((line) => {
        line.style.strokeOpacity = Number(line.dataset.i) === lane ? "" : ".35";
      });
      this.tell();
    }

    tell() {
      const [ends, about] = this.lanes[this.lane];
      const shown = this.runs.filter((_, i) => !this.panels[i].hidden);
      const rows = shown.map((run) => {
        const level = this.level(run, this.lane);
        return [null, run.name, level === DOWN ? "down" : `${(100 * level / FULL).toFixed(0)} %`];
      });
      showTip(about ? `${ends} (${about})` : ends, rows, ...this.pointer);
    }

    leave() {
      all(this.figure, ".links line").forEach((line) => { line.style.strokeOpacity = ""; });
      Object.assign(this, { lane: -1, pointer: undefined });
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

  // ---- The page -------------------------------------------------------------------------------

  /** Light or dark by hand; the system's choice until then. */
  function wireTheme(button) {
    const root = document.documentElement;
    button.addEventListener("click", () => {
      const dark = getComputedStyle(root).colorScheme === "dark";
      root.dataset.theme = dark ? "light" : "dark";
    });
  }

  all(document, "figure.plot").forEach((figure) => plots.push(new PlotFigure(figure)));
  all(document, "figure.fabric").forEach((figure) => new FabricFigure(figure));
  all(document, ".theme").forEach(wireTheme);
  all(document, ".tools, .controls, .theme").forEach((part) => { part.hidden = false; });
})();
