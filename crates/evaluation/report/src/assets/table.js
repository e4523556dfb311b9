// ---- Tables: rows in order of a column, a file for other programs ------------------------------

/** The number that a cell starts with, or its text. */
function sortKey(cell) {
  const text = cell.textContent.trim();
  const number = Number.parseFloat(text.replaceAll("−", "-"));
  return Number.isFinite(number) ? number : text;
}

/** Rows in order of a column; the other way round if they are already. */
function sortBy(table, column) {
  const body = table.tBodies[0];
  const heading = table.tHead.rows[0].cells[column];
  const direction = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  all(table, "th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
  heading.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
  const compare = (a, b) => (typeof a === typeof b ? (a < b ? -1 : Number(a > b)) : typeof a === "number" ? -1 : 1);
  const keyed = [...body.rows].map((row) => [sortKey(row.cells[column]), row]);
  keyed.sort(([a], [b]) => direction * compare(a, b)).forEach(([, row]) => body.append(row));
}

// Spaces and hyphens that keep a cell on one line are plain ones in files.
const plain = (text) => text.replaceAll("\u00a0", " ").replaceAll("\u2011", "-");
const field = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvOf = (table) => [...table.rows]
  .map((row) => [...row.cells].map((cell) => field(plain(cell.textContent.trim()))).join(","))
  .join("\n");

all(document, ".table").forEach((box, index) => {
  const table = box.querySelector("table");
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const name = heading.textContent;
    heading.textContent = "";
    const button = append(heading, "button", { type: "button", class: "sort", title: "Sort by this column" }, name);
    button.addEventListener("click", () => sortBy(table, column));
  });
  const tools = append(box, "div", { class: "tools" });
  const button = append(tools, "button", { type: "button" }, "CSV");
  button.addEventListener("click", () => save(`${csvOf(table)}\n`, "text/csv", `table-${index + 1}.csv`));
});
