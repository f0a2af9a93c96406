// The data of the page: unpacked once, then read in place. And the few words every part needs.

const SHARES = 10000;
const UNKNOWN = 65535;
const ARRAYS = {
  uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array,
  uint32: Uint32Array, int32: Int32Array, float32: Float32Array, float64: Float64Array,
};

async function unpacked(text) {
  const letters = atob(text.trim());
  const bytes = new Uint8Array(letters.length);
  for (let at = 0; at < letters.length; at++) bytes[at] = letters.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const block = await new Response(stream).arrayBuffer();
  const length = new DataView(block).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(block, 4, length)));
  const start = 4 + length;
  for (const [name, [kind, at, count]] of Object.entries(header.arrays)) {
    header[name] = new ARRAYS[kind](block, start + at, count);
  }
  return header;
}

// The name of an item, which may be made of its topic and its document.
function itemName(data, item) {
  if (data.items) return data.items[item];
  return `${data.topics[data.topic[item]]}/${data.documents[item]}`;
}

function share(values, at) {
  return values[at] === UNKNOWN ? NaN : values[at] / SHARES;
}

// An element: attributes by name, "on..." for listeners; children are elements or plain text.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

const integers = new Intl.NumberFormat("en-GB");

function number(value, digits = 2) {
  return Number.isFinite(value) ? value.toFixed(digits) : "–";
}

function small(value) {
  return value > 0 && value < 0.0005 ? "< 0.001" : number(value, 3);
}

function percent(value) {
  return Number.isFinite(value) ? `${Math.round(value * 100)}%` : "–";
}

function counted(count, what) {
  return `${integers.format(count)} ${what}${count === 1 ? "" : "s"}`;
}

// A judge as a link that opens their card.
function judgeLink(data, judge) {
  const advice = data.advice[data.judgeAdvice[judge]];
  return element("a", { href: `#judge-${judge}`, class: `judge ${advice}` }, data.judges[judge]);
}

function badge(advice) {
  return element("span", { class: `badge ${advice}` }, advice);
}

// A value on a track from 0 to 1, with its interval.
function range(value, low, high) {
  if (!Number.isFinite(value)) return element("span", { class: "soft" }, "–");
  const track = element("span", { class: "range", "aria-hidden": "true" });
  const clip = (x) => Math.min(1, Math.max(0, x));
  if (Number.isFinite(low) && Number.isFinite(high)) {
    const width = clip(high) - clip(low);
    track.append(element("i", { "--from": clip(low), "--wide": width }));
  }
  track.append(element("b", { "--from": clip(value) }));
  return track;
}

function between(low, high, digits = 2) {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return "";
  return `${number(low, digits)} to ${number(high, digits)}`;
}
