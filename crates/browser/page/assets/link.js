// Links that hold a scenario: the fields of the page as JSON, deflated, in base64 for addresses, behind the # of an
// address. Anyone may have made a link: what it holds is text for fields, and nothing else.

const LINK = { key: "#scenario=", longest: 64 * 1024, largest: 256 * 1024 };
const SHARED = ["text", "a", "b", "load", "flows", "seed", "link", "fails_at", "recovers_at"];

/** The fragment that holds the texts of `SHARED`. */
async function fragmentOf(setup) {
  const fields = SHARED.map((name) => setup[name]);
  const stream = new Blob([JSON.stringify(fields)]).stream().pipeThrough(new CompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const fragment = LINK.key + btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  if (fragment.length > LINK.longest) throw new Error("the scenario file is too long for a link: save it");
  return fragment;
}

/** The texts that a fragment holds. Throws an error with the reason if it holds none. */
async function setupOf(fragment) {
  if (!fragment.startsWith(LINK.key)) throw new Error("what follows the # in the address is no scenario");
  if (fragment.length > LINK.longest) throw new Error("the link is too long");
  const fields = fieldsOf(await inflated(fragment.slice(LINK.key.length)));
  return Object.fromEntries(SHARED.map((name, at) => [name, fields[at]]));
}

/** The bytes of base64 as text: deflate's checksum finds a link that was cut short. */
async function inflated(base64) {
  try {
    const bytes = Uint8Array.from(atob(base64.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
    const parts = [];
    let length = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      length += part.value.length;
      if (length > LINK.largest) throw new Error("too large");
      parts.push(part.value);
    }
    return await new Blob(parts).text();
  } catch {
    throw new Error("the link is damaged or was cut short");
  }
}

function fieldsOf(text) {
  let fields;
  try {
    fields = JSON.parse(text);
  } catch {
    fields = undefined;
  }
  const isOne = Array.isArray(fields) && fields.length === SHARED.length && fields.every((field) => typeof field === "string");
  if (!isOne) throw new Error("the link was made by another version of this page");
  return fields;
}
