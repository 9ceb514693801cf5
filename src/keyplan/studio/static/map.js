// The map: pan, zoom, follow lines, select an item, highlight an access pattern. The server creates the drawing.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault, address, argumentParams, argumentsOf, ask, download, embedded, go, html, link, loader, many, number, rest, restless, shownValue, view, withoutArguments } from "./lib.js";
import { partitions } from "./palette.js";

const drawing = loader("map");
const details = loader("item");

// Zoom and pan are a transform of one layer, which the browser moves without redrawing it. The URL contains the center
// of the window, so that a link shows the same part in a window of another size.
const camera = { x: 0, y: 0, k: 1 };
let stage = null, paper = null, size = { width: 1, height: 1 };
let frame = 0, movedAt = 0;
const LEAST = 0.04, MOST = 4;

function place() {
  if (paper) paper.style.transform = `translate3d(${camera.x}px, ${camera.y}px, 0) scale(${camera.k})`;
}

function move({ kept = false } = {}) {
  movedAt = performance.now();
  frame ||= requestAnimationFrame(() => { frame = 0; place(); cull(); stage?.classList.toggle("distant", camera.k < READABLE); });
  if (!stage || kept) return;
  const { clientWidth: width, clientHeight: height } = stage;
  rest({ at: [(width / 2 - camera.x) / camera.k, (height / 2 - camera.y) / camera.k, camera.k].map((each, at) => each.toFixed(at < 2 ? 0 : 3)).join(",") });
}

function restore(at) {
  // The position in the URL
  const [x, y, k] = at.split(",").map(Number);
  if (![x, y, k].every(Number.isFinite)) return fit();
  camera.k = Math.min(Math.max(k, LEAST), MOST);
  camera.x = stage.clientWidth / 2 - x * camera.k;
  camera.y = stage.clientHeight / 2 - y * camera.k;
  move({ kept: true });
}

function fit(box = { x: 0, y: 0, ...size }, { most = 1.15, least = 0 } = {}) {
  if (!stage) return;
  const { clientWidth: width, clientHeight: height } = stage;
  const narrow = width < 700;
  const k = Math.min(width / box.width, narrow ? Infinity : height / box.height, most);
  camera.k = Math.max(k, least, LEAST);
  camera.x = box.width * camera.k < width ? (width - box.width * camera.k) / 2 - box.x * camera.k : -box.x * camera.k + (narrow ? 8 : 0);
  camera.y = box.height * camera.k < height ? Math.min((height - box.height * camera.k) / 2, 40) - box.y * camera.k : -box.y * camera.k + 4;
  move({ kept: true });
}

function around(boxes) {
  const x = Math.min(...boxes.map((box) => box.x)) - 30, y = Math.min(...boxes.map((box) => box.y)) - 30;
  const right = Math.max(...boxes.map((box) => box.x + box.width)), bottom = Math.max(...boxes.map((box) => box.y + box.height));
  return { x, y, width: right - x + 30, height: bottom - y + 30 };
}

function whole() {
  restless();
  fit();
  if (address.value.at) go({ at: null }, { replace: true });
}

function zoom(factor, px = stage.clientWidth / 2, py = stage.clientHeight / 2) {
  const k = Math.min(Math.max(camera.k * factor, LEAST), MOST);
  camera.x = px - (px - camera.x) * (k / camera.k);
  camera.y = py - (py - camera.y) * (k / camera.k);
  camera.k = k;
  move();
}

// The position of a part of the drawing, by its own rectangle: a request to the browser would cause a layout
const BOXES = { row: ":scope > .ground", card: ":scope > .body" };
function boxOf(node) {
  const kind = node.classList.contains("row") ? "row" : "card";
  const shape = node.querySelector(BOXES[kind]);
  const [x, y, width, height] = ["x", "y", "width", "height"].map((name) => Number(shape.getAttribute(name)));
  return { x, y, width, height };
}

function show(node, { centre = false } = {}) {
  if (!node || !stage) return;
  const box = boxOf(node);
  const left = box.x * camera.k + camera.x, top = box.y * camera.k + camera.y;
  const right = left + box.width * camera.k, bottom = top + box.height * camera.k;
  if (!centre && left >= 0 && top >= 0 && right <= stage.clientWidth && bottom <= stage.clientHeight) return;
  if (camera.k < 1) camera.k = 1;
  camera.x = stage.clientWidth / 2 - (box.x + Math.min(box.width, stage.clientWidth / camera.k) / 2) * camera.k;
  camera.y = stage.clientHeight / 2 - (box.y + Math.min(box.height, stage.clientHeight / camera.k) / 2) * camera.k;
  move();
}

// The elements of the drawing, looked up once: rows with positions, cards, and lines by the rows that they connect

let rows = [], byId = new Map(), byItem = new Map(), cards = new Map(), ties = new Map(), ways = null, texts = new Map();

function learn(svg) {
  byId = new Map();
  byItem = new Map();
  cards = new Map();
  ties = new Map();
  for (const card of svg.querySelectorAll(".card")) cards.set(card.id, card);
  rows = Array.from(svg.querySelectorAll(".row"), (row) => {
    const { x, y, width, height } = boxOf(row);
    byId.set(row.id, row);
    byItem.set(row.dataset.item, [...(byItem.get(row.dataset.item) ?? []), row]);
    return { row, x: x + width / 2, y: y + height / 2 };
  });
  for (const tie of svg.querySelectorAll(".tie"))
    for (const end of [tie.dataset.a, tie.dataset.b]) { const known = ties.get(end); known ? known.push(tie) : ties.set(end, [tie]); }
  ways = element("g", { class: "ways", "aria-hidden": "true" });
  svg.querySelector(".ties").after(ways); // behind the cards: a line never crosses text
  stock(svg);
}

function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// On a large map, cards outside the window, and all cards that are too small to read, are drawn as outlines. Others are
// added a few at a time, so that no frame waits for them. A small map is in the page as a whole, for screen readers.

const LARGE_ROWS = 1200, TIES_MAX = 2500, READABLE = 0.45, FRAME_MS = 5;
let stocked = [];

function stock(svg) {
  stocked = [];
  if (!cards.size) return;
  const far = element("g", { class: "far", "aria-hidden": "true" });
  for (const card of cards.values()) {
    const box = boxOf(card);
    far.append(outline(card, box));
    stocked.push({ card, box, home: card.parentNode, shown: false });
  }
  stocked[0].home.insertBefore(far, stocked[0].card);
  stage.toggleAttribute("data-large", rows.length > LARGE_ROWS);
  if (rows.length <= LARGE_ROWS) { stocked = []; return; }
  for (const slot of stocked) { slot.before = far; slot.card.remove(); }
  for (const group of svg.querySelectorAll(".ties")) if (group.childElementCount > TIES_MAX) group.remove();
}

function outline(card, box) {
  const made = element("g", {});
  made.append(card.querySelector(".body").cloneNode(), card.querySelector(".head").cloneNode());
  const stripes = new Map();
  let lines = "";
  for (const row of card.querySelectorAll(".row")) {
    const { x, y, height } = boxOf(row);
    const kind = row.classList[1];
    stripes.set(kind, `${stripes.get(kind) ?? ""}M${x + 8} ${y + 6}h14v${height - 12}h-14z`);
    lines += `M${x + 34} ${y + 10}h${120 + (y * 7) % 90}v7H${x + 34}zM${x + 34} ${y + 25}h${180 + (y * 3) % 110}v5H${x + 34}z`;
  }
  made.append(element("path", { class: "lines", d: lines }));
  for (const [kind, d] of stripes) made.append(element("path", { class: `stripe ${kind}`, d }));
  const title = element("text", { class: "title", x: box.x + 14, y: box.y + 29 });
  const most = Math.floor((box.width - 24) / 16);
  const text = card.dataset.title;
  title.textContent = text.length > most ? `${text.slice(0, most - 1)}…` : text;
  made.append(title);
  return made;
}

function attach(slot) {
  slot.home.insertBefore(slot.card, slot.before.nextSibling);
  slot.shown = true;
}

let culling = 0;
function cull() {
  if (!stocked.length || !stage) return;
  const [left, top] = [-camera.x / camera.k, -camera.y / camera.k];
  const [width, height] = [stage.clientWidth / camera.k, stage.clientHeight / camera.k];
  const within = ({ box }, margin) => camera.k >= READABLE && box.x + box.width > left - width * margin && box.x < left + width * (1 + margin) && box.y + box.height > top - height * margin && box.y < top + height * (1 + margin);
  const until = performance.now() + FRAME_MS;
  let more = false;
  for (const slot of stocked) {
    const change = slot.shown ? !within(slot, 1) && !slot.card.contains(document.activeElement) : within(slot, 0.25);
    if (!change) continue;
    if (performance.now() > until) { more = true; break; }
    if (slot.shown) { slot.card.remove(); slot.shown = false; } else { attach(slot); more = true; break; }
  }
  cancelAnimationFrame(culling);
  if (more) culling = requestAnimationFrame(cull);
}

// While the pointer or the focus is on an item, related items are highlighted: their lines are drawn again above all other
// lines, which fade together.

let hot = [];
function dark() {
  for (const row of hot) row.classList.remove("hot");
  hot = [];
  ways?.replaceChildren();
  stage?.classList.remove("following");
}

function draw(tie) {
  const copy = tie.cloneNode(true);
  copy.classList.add("way");
  ways.append(copy);
}

function light(row) {
  dark();
  if (!row) return;
  const heat = (other) => { if (other) { other.classList.add("hot"); hot.push(other); } };
  heat(row);
  for (const tie of ties.get(row.id) ?? []) {
    draw(tie);
    heat(byId.get(tie.dataset.a === row.id ? tie.dataset.b : tie.dataset.a));
  }
  for (const other of byItem.get(row.dataset.item) ?? []) heat(other);
  stage.classList.add("following");
}

function near(row, key) {
  // The row that an arrow key selects: first in the same card, then in the adjacent card.
  const from = rows.find((other) => other.row === row);
  if (!from) return null;
  const distance = ({ x, y }) => {
    const dx = x - from.x, dy = y - from.y;
    if (key === "ArrowDown") return dy > 4 && Math.abs(dx) < 40 ? dy : Infinity;
    if (key === "ArrowUp") return dy < -4 && Math.abs(dx) < 40 ? -dy : Infinity;
    if (key === "ArrowRight") return dx > 40 ? dx + Math.abs(dy) * 0.6 : Infinity;
    return dx < -40 ? -dx + Math.abs(dy) * 0.6 : Infinity;
  };
  let best = null, least = Infinity;
  for (const other of rows) { const far = distance(other); if (far < least) [best, least] = [other.row, far]; }
  return best;
}

function focusRow(row) {
  if (!row) return;
  const kept = stocked.find((slot) => !slot.shown && slot.card.contains(row));
  if (kept) attach(kept);
  for (const other of stage.querySelectorAll('.row[tabindex="0"]')) other.setAttribute("tabindex", "-1");
  row.setAttribute("tabindex", "0");
  row.focus({ preventScroll: true });
  show(row);
}

function listen(node) {
  const pointers = new Map();
  let moved = false, pinch = null;
  node.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = node.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey || Math.abs(event.deltaY) >= 50) zoom(Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX - box.x, event.clientY - box.y);
    else { camera.x -= event.deltaX; camera.y -= event.deltaY; move(); }
  }, { passive: false });
  node.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    moved = false;
  });
  node.addEventListener("pointermove", (event) => {
    if (!pointers.has(event.pointerId)) {
      const row = event.target.closest?.(".row");
      if (row === listen.over || performance.now() - movedAt < 120) return; // ignore items that move under the pointer
      listen.over = row;
      light(row);
      return;
    }
    const [px, py] = pointers.get(event.pointerId);
    if (!moved && Math.hypot(event.clientX - px, event.clientY - py) < 4) return;
    if (!moved) { moved = true; node.setPointerCapture(event.pointerId); node.classList.add("dragging"); }
    pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const points = [...pointers.values()];
    if (points.length === 2) {
      const apart = Math.hypot(points[0][0] - points[1][0], points[0][1] - points[1][1]);
      const box = node.getBoundingClientRect();
      if (pinch) zoom(apart / pinch, (points[0][0] + points[1][0]) / 2 - box.x, (points[0][1] + points[1][1]) / 2 - box.y);
      pinch = apart;
    } else { camera.x += event.clientX - px; camera.y += event.clientY - py; move(); }
  });
  const up = (event) => { pointers.delete(event.pointerId); pinch = null; node.classList.remove("dragging"); };
  node.addEventListener("pointerup", up);
  node.addEventListener("pointercancel", up);
  node.addEventListener("pointerleave", () => { listen.over = null; dark(); });
  node.addEventListener("click", (event) => {
    if (moved) return;
    const row = event.target.closest?.(".row");
    const more = event.target.closest?.("[data-more]");
    if (row) { focusRow(row); go({ item: row.dataset.item }, { replace: true }); }
    else if (more) go({ rows: String(Math.min((Number(address.value.rows) || 7) + 10, 50)) });
  });
  node.addEventListener("focusin", (event) => { const row = event.target.closest?.(".row"); if (row) light(row); });
  node.addEventListener("keydown", (event) => {
    const row = event.target.closest?.(".row");
    if (row && event.key.startsWith("Arrow")) { focusRow(near(row, event.key)); event.preventDefault(); }
    else if (row && (event.key === "Enter" || event.key === " ")) { go({ item: row.dataset.item }, { replace: true }); event.preventDefault(); }
    else if (!row && event.key.startsWith("Arrow")) {
      camera.x += { ArrowLeft: 60, ArrowRight: -60 }[event.key] ?? 0;
      camera.y += { ArrowUp: 60, ArrowDown: -60 }[event.key] ?? 0;
      move();
      event.preventDefault();
    } else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") whole();
    else if (event.key === "Escape" && address.value.item) go({ item: null }, { replace: true });
  });
}

const LIT = ["hit", "put", "update", "delete"];

function Drawing({ data, before, params }) {
  const holder = useRef(null);
  useEffect(() => { stage = holder.current; listen(stage); return () => { stage = null; }; }, []);
  useEffect(() => {
    const kept = paper && size.width === data.width && size.height === data.height;
    paper = document.createElement("div");
    paper.className = "paper-layer";
    paper.innerHTML = data.svg;
    size = { width: data.width, height: data.height };
    learn(paper.firstElementChild);
    paper.dataset.rows = rows.length;
    const old = texts;
    texts = new Map(rows.map(({ row }) => [row.id, row.textContent]));
    if (before) for (const { row } of rows) if (old.get(row.id) !== texts.get(row.id)) row.classList.add("flash");
    const focused = holder.current.contains(document.activeElement) ? document.activeElement.id : null;
    holder.current.replaceChildren(paper);
    rows[0]?.row.setAttribute("tabindex", "0");
    if (focused) focusRow(byId.get(focused));
    const marked = rows.filter(({ row }) => LIT.some((name) => row.classList.contains(name)));
    const lit = marked.map(({ row }) => boxOf(row.closest(".card")));
    if (params.at) restore(params.at);
    else if (lit.length) {
      // With the items of an index's entries in the table, if that is still readable
      const sources = Array.from(paper.querySelectorAll(".tie.way"), (tie) => byId.get(tie.dataset.a)).filter(Boolean).map((row) => boxOf(row.closest(".card")));
      const [near, whole] = [around(lit), around([...lit, ...sources])];
      const fits = (box) => box.width <= stage.clientWidth && box.height <= stage.clientHeight;
      const first = marked.find(({ row }) => row.querySelector(".badge")?.textContent === "1") ?? marked[0];
      fit(fits(whole) ? whole : fits(near) ? near : around([boxOf(first.row.closest(".card"))]), { most: 1, least: 1 });
    } else if (kept || before) move({ kept: true });
    else fit(undefined, { least: 1 });
  }, [data.svg]);
  useEffect(() => {
    const chosen = byItem.get(params.item) ?? [];
    for (const row of chosen) row.classList.add("chosen");
    return () => { for (const row of chosen) row.classList.remove("chosen"); };
  }, [params.item, data.svg]);
  useEffect(() => {
    if (!params.collection) return;
    const card = cards.get(params.collection);
    show(card, { centre: true });
    if (card) focusRow(card.querySelector(".row"));
  }, [params.collection, data.svg]);
  return html`<div class="stage" ref=${holder} tabindex="0" role="region" aria-label="Map. Press the arrow keys to move, + and − to zoom, 0 to fit the whole map, and Tab to reach the items."></div>`;
}

const PLACES = { templates: "Key templates", items: "Items" };
const showsTemplates = (about, params) => about.entities.length > 0 && params.show !== "items" && !params.question && !params.collection && !params.partition && !(params.item && !params.item.startsWith("template-"));

// The legend selects the collections of an entity, one after the other
let sought = { label: null, at: 0 };
function seek(label) {
  const found = [...cards.values()].map((card) => [...card.querySelectorAll(".row")].find((row) => row.dataset.kind === label)).filter(Boolean);
  sought = { label, at: sought.label === label ? (sought.at + 1) % found.length : 0 };
  const row = found[sought.at];
  if (!row) return;
  show(row.closest(".card"), { centre: true });
  focusRow(row);
}

async function saveSvg(name, data) {
  // The same text that keyplan export --to svg writes
  const style = embedded ? embedded.style : await (await fetch("static/map.css")).text();
  const plain = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const head = `<title>${plain(name)}</title><style>${plain(style)}</style><rect class="ground" width="100%" height="100%"/><g class="paper">`;
  download(`${name}.svg`, `${data.svg.replace('<g class="paper">', () => head)}\n`, "image/svg+xml");
}

// The access patterns next to the map

function Questions({ about, params }) {
  const words = (params.q ?? "").toLowerCase();
  const wide = matchMedia("(min-width: 60rem)").matches;
  const open = params.rail ? params.rail === "1" : wide;
  const shown = about.questions.filter((question) => `${question.id} ${question.name} ${question.doc}`.toLowerCase().includes(words));
  if (!about.questions.length) return null;
  return html`
    <details class="rail" open=${open} onToggle=${(event) => { if (event.target.open !== open) go({ rail: event.target.open === wide ? null : event.target.open ? "1" : "0" }, { replace: true }); }}>
      <summary>Access patterns <span class="quiet">${about.questions.length}</span></summary>
      <label class="hidden" for="question-filter">Filter access patterns</label>
      <input id="question-filter" type="search" placeholder="Filter" value=${params.q ?? ""} onInput=${(event) => go({ q: event.target.value }, { replace: true })} />
      <ul>
        ${shown.map((question) => html`<li>
          <a class=${`question ${question.kind}`} href=${link({ ...withoutArguments(params), question: question.name === params.question ? null : question.name, item: null, collection: null, at: null })}
            aria-current=${question.name === params.question ? "true" : null} title=${question.doc}>
            <span class="id">${question.id}</span><span class="name">${question.name}</span></a></li>`)}
      </ul>
    </details>`;
}

function PathPanel({ about, params, path }) {
  if (!params.question) return null;
  const question = about.questions.find((candidate) => candidate.name === params.question);
  if (!question) return html`<section class="panel path" aria-label="Access pattern"><p>The design has no access pattern ${params.question}.</p></section>`;
  const steps = path?.steps ?? [];
  const reads = steps.filter((step) => !step.touched.length);
  const items = reads.reduce((sum, step) => sum + step.found, 0);
  return html`
    <section class="panel path" aria-label="Path of the access pattern">
      <header><span class=${`id ${question.kind}`}>${question.id}</span><h2>${question.name}</h2>
        <a class="close" href=${link({ ...withoutArguments(params), question: null, at: null })} aria-label="Close access pattern">×</a></header>
      <p class="doc">${question.doc}</p>
      ${path?.question === params.question ? html`
        ${Object.keys(path.arguments).length ? html`<dl class="arguments">${Object.entries(path.arguments).map(([name, value]) => html`<div><dt>${name}</dt><dd>${typeof value === "string" ? value : JSON.stringify(value)}</dd></div>`)}</dl>` : null}
        <ol class="steps">${steps.map((step) => html`<li>
          <b>${step.operation}</b>${step.index ? html` on <b>${step.index}</b>` : null}
          ${step.condition ? html`<code>${step.condition}</code>` : null}
          <span class="quiet">${step.touched.length ? many(step.touched.length, "item") + " to write" : many(step.found, "item")}${step.units ? `, ${many(step.units, "unit")}` : ""}</span></li>`)}</ol>
        ${path.cut ? html`<p class="quiet">More requests follow; these are the first ${steps.length}.</p>` : null}
        ${steps.length && !items && question.kind === "read" ? html`<p class="quiet">No items found.</p>` : null}
        ${!steps.length && !path.error ? html`<p class="quiet">${question.kind === "write" ? "The arguments determine which items the write changes." : "No item on the map provides arguments for this access pattern."}</p>` : null}
        <${Fault} error=${path.error} />` : html`<p class="quiet">…</p>`}
      ${embedded ? null : html`<p><a class="button" href=${view("run", { question: question.name, ...argumentParams(path?.arguments) })}>${question.kind === "write" ? "Enter arguments" : "Run"}</a></p>`}
    </section>`;
}

// A partition as in the URL of the Data view
const partitionText = (value) => { const [text] = Object.values(value ?? {}); return /^[{[]/.test(text ?? "") ? JSON.stringify(value) : text; };

function ItemPanel({ params }) {
  const { data, error } = details.state.value;
  if (!params.item) return null;
  const item = data?.id === params.item ? data : null;
  const keys = item ? html`<dl class="keys">${item.keys.map((key) => html`<div><dt>${key.place}</dt><dd>
    ${key.attributes.map((part) => html`<p><span class="attribute">${part.name}</span> <code>${part.pieces.map((piece) => piece.field === null ? html`<i>${piece.text}</i>` : html`<b>${piece.text}</b>`)}</code>
      ${part.template ? html`<code class="template">${part.template}</code>` : null}</p>`)}</dd></div>`)}</dl>` : null;
  if (item?.fields) return html`
    <section class="panel item" aria-label="Entity">
      <header><span class=${`dot k${item.colour}`}></span><h2>${item.kind}</h2><a class="close" href=${link({ item: null })} aria-label="Close entity">×</a></header>
      <p class="doc">${item.doc}</p>${keys}
      <table class="attributes"><caption class="hidden">Fields</caption><tbody>${item.fields.map((field) => html`<tr><th scope="row">${field.name}</th><td>${field.type}</td></tr>`)}</tbody></table>
      ${embedded ? null : html`<p><a class="button" href=${view("data", { entity: item.entity })}>Show its items</a></p>`}</section>`;
  return html`
    <section class="panel item" aria-label="Item">
      <header>${item ? html`<span class=${`dot k${item.colour}`}></span><h2>${item.kind}</h2>` : html`<h2>Item</h2>`}
        <a class="close" href=${link({ item: null })} aria-label="Close item">×</a></header>
      <${Fault} error=${error} />
      ${item ? html`
        ${keys}
        <table class="attributes"><caption class="hidden">Attributes</caption><tbody>${Object.entries(item.item).map(([name, value]) => html`<tr><th scope="row">${name}</th><td class="type">${Object.keys(value)[0]}</td><td>${shownValue(value).slice(0, 600)}</td></tr>`)}</tbody></table>
        <p class="quiet">${number(item.bytes, 9)} bytes</p>
        ${item.fault ? html`<p class="fault">${item.fault}</p>` : null}
        ${embedded ? null : html`<p><a class="button" href=${view("data", { partition: partitionText(item.partition) })}>Edit this collection</a></p>`}` : html`<p class="quiet">…</p>`}
    </section>`;
}

const generating = signal(null); // the error of writing sample data; null: none
async function generate() {
  try { await ask("generate"); generating.value = null; go({ show: "items" }); drawing.again(); } catch (error) { generating.value = error.error ?? { message: String(error) }; }
}

export function View({ about, params }) {
  const templates = showsTemplates(about, params);
  const given = templates ? { templates } : { question: params.question ?? null, arguments: params.question ? argumentsOf(params) : null, rows: Number(params.rows) || 7, each: Number(params.each) || null, partition: params.partition ? JSON.parse(params.partition) : null };
  useEffect(() => { drawing.load(given); }, [JSON.stringify(given)]);
  useEffect(() => { if (params.item && drawing.state.value.data) details.load({ item: params.item }); }, [params.item, drawing.state.value.data]);
  const { data, before, error, loading } = drawing.state.value;
  useEffect(() => { if (data && !templates) partitions.value = { list: data.collections, base: { ...params, view: "map", at: null, item: null } }; }, [data]);
  const to = (show) => link({ ...withoutArguments(params), show, question: null, item: null, collection: null, partition: null, at: null });
  return html`
    <div class="map-view" data-loading=${loading ? "" : null}>
      <${Questions} about=${about} params=${params} />
      <div class="canvas">
        ${error ? html`<${Fault} error=${error} again=${() => drawing.again()} />` : null}
        ${about.entities.length ? html`<header class="map-bar"><nav class="toggle" aria-label="Map content">${Object.entries(PLACES).map(([name, label]) => html`<a href=${to(name === "items" ? "items" : null)} aria-current=${(name === "templates") === templates ? "true" : null}>${label}</a>`)}</nav><p class="quiet">${about.doc}</p></header>` : null}
        <div class="stage-frame">
        ${data ? html`<${Drawing} data=${data} before=${before} params=${params} />` : error ? null : html`<p class="opening">Reading the table …</p>`}
        <div class="tools" role="group" aria-label="Zoom">
          <button onClick=${() => zoom(1.25)} aria-label="Zoom in">+</button><button onClick=${() => zoom(0.8)} aria-label="Zoom out">−</button>
          <button onClick=${whole} aria-label="Fit the whole map">⤢</button>
          ${data ? html`<button onClick=${() => saveSvg(about.name, data)} data-save="" aria-label="Save the map as SVG">↓</button>` : null}
        </div>
        </div>
        ${generating.value ? html`<${Fault} error=${generating.value} />` : null}
        ${data ? html`<ul class="legend" aria-label="Legend">
          ${data.kinds.map((kind) => html`<li><button class="plain" onClick=${() => seek(kind.label)}><span class=${`sign k${kind.colour}`} aria-hidden="true">${kind.sign}</span>${kind.label}</button></li>`)}
          <li class="quiet">${templates ? (data.empty ? "the table is empty" : "each card is a kind of item collection") : data.symbolic ? "no data: key templates are shown" : `chosen from ${data.complete ? "all " : "the first "}${many(data.looked_at, "item")}`}${embedded || data.symbolic || Number(params.each) >= 10 ? null : html` <a href=${link({ each: String(Math.min((Number(params.each) || 2) * 2, 10)), at: null })}>more</a>`}</li>
          ${(templates ? data.empty : data.symbolic) && about.writable && about.local && !embedded ? html`<li><button class="small" onClick=${generate}>Write sample data</button></li>` : null}</ul>` : null}
      </div>
      <div class="side"><${PathPanel} about=${about} params=${params} path=${data?.path} /><${ItemPanel} params=${params} /></div>
    </div>`;
}
