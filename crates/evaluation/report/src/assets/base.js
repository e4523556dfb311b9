// What plots and maps share: numbers as text, the tip, places in drawings, files. The page is complete
// without any script; no script draws anything but cursors.

const all = (root, selector) => [...root.querySelectorAll(selector)];
const dataOf = (figure) => JSON.parse(figure.querySelector("script").textContent);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** A new element at the end of `parent`; an SVG element if its parent is one. */
function append(parent, tag, attributes = {}, text = "") {
  const element = document.createElementNS(parent.namespaceURI, tag);
  Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
  element.textContent = text;
  return parent.appendChild(element);
}

// ---- Numbers as text ---------------------------------------------------------------------------

const PREFIXES = { "-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" };

/** Four significant digits, without trailing zeros. */
function digits(value) {
  const size = Math.abs(value);
  const plain = value === 0 || (size < 1e7 && size >= 1e-4);
  const text = plain ? String(Number(value.toPrecision(4))) : String(Number(value.toExponential(3)));
  return text.replace("e+", "e").replaceAll("-", "−");
}

/** A value with its unit: 0.00025 s is "250 µs". Nobody counts kiloseconds. */
function withUnit(value, { unit, si }) {
  if (!si || value === 0) return `${digits(value)} ${unit}`.trim();
  const power = 3 * Math.floor(Math.log10(Math.abs(value)) / 3 + 1e-12);
  const shown = clamp(power, -12, unit === "s" ? 0 : 12);
  const prefix = shown === 3 && ["B", "bps"].includes(unit) ? "K" : PREFIXES[shown];
  return `${digits(value / 10 ** shown)} ${prefix}${unit}`;
}

// ---- The tip: one box for the whole page ----------------------------------------------------------

const tip = append(document.body, "div", { class: "tip", role: "status", hidden: "" });
const hideTip = () => { tip.hidden = true; };

/** Shows a heading and rows of { paint, name, value, note } beside a point of the window. */
function showTip(heading, rows, [x, y]) {
  tip.textContent = "";
  append(tip, "b", {}, heading);
  const table = append(tip, "table");
  for (const { paint, name, value, note } of rows) {
    const row = append(table, "tr");
    const first = append(row, "td");
    if (paint) append(first, "i").style.background = paint;
    first.append(name);
    append(row, "td", {}, value);
    if (note) append(row, "td", {}, note);
  }
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  const left = x + 16 + width > innerWidth ? x - 16 - width : x + 16;
  tip.style.left = `${clamp(left, 4, Math.max(4, innerWidth - width - 4))}px`;
  tip.style.top = `${clamp(y - height / 2, 4, Math.max(4, innerHeight - height - 4))}px`;
}

// ---- Places in drawings ------------------------------------------------------------------------

/** From a point of the window to a drawing's own units, and back. */
const placeIn = (svg, x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM().inverse());
const placeOut = (svg, x, y) => new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());

/** Sends pointer and keys of a drawing to `follow(svg, x, y)`, `step(svg, key)` and `leave(svg)`. */
function listen(svg, target) {
  svg.setAttribute("role", "group");
  svg.setAttribute("tabindex", "0");
  for (const type of ["pointerdown", "pointermove"]) {
    svg.addEventListener(type, (event) => target.follow(svg, event.clientX, event.clientY));
  }
  // A finger that is lifted leaves the values on show until it taps elsewhere.
  svg.addEventListener("pointerleave", (event) => event.pointerType === "touch" || target.leave(svg));
  svg.addEventListener("blur", () => target.leave(svg));
  svg.addEventListener("keydown", (event) => {
    if (event.target === svg && target.step(svg, event.key)) event.preventDefault();
  });
}

// ---- Files -------------------------------------------------------------------------------------

function save(content, type, name) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = append(document.body, "a", { href: url, download: name });
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** A drawing as a file of its own: light colours, its title on top, without what is hidden. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  all(copy, ".cursor, .off, .key title").forEach((part) => part.remove());
  ["class", "tabindex", "data-x", "data-y"].forEach((name) => copy.removeAttribute(name));
  const [, , width, inner] = svg.getAttribute("viewBox").split(" ").map(Number);
  const head = Number(svg.dataset.head);
  const height = inner + head;
  Object.entries({ width, height, viewBox: `0 ${-head} ${width} ${height}` })
    .forEach(([name, value]) => copy.setAttribute(name, value));
  copy.prepend(append(copy, "rect", { y: -head, width, height, fill: "#ffffff" }));
  const light = document.styleSheets[0].cssRules[0].style;
  const text = new XMLSerializer().serializeToString(copy);
  return { width, height, text: text.replace(/var\((--\w+)\)/g, (_, name) => light.getPropertyValue(name).trim()) };
}

const saveSvg = (svg) => save(standalone(svg).text, "image/svg+xml", `${svg.dataset.name}.svg`);

/** At twice the size, which is sharp on every screen. */
function savePng(svg) {
  const { text, width, height } = standalone(svg);
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(blob, "image/png", `${svg.dataset.name}.png`));
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}
