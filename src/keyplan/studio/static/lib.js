// Shared by all views: the URL, the token, requests to the server, and small components.

import { h } from "preact";
import { signal } from "@preact/signals";
import htm from "htm";

export const html = htm.bind(h);

// The token is in the first URL, and is stored for this tab only; links never contain it.

const here = new URL(location.href);
const given = here.searchParams.get("token");
export const embedded = globalThis.KEYPLAN_EXPORT ?? null;
const TOKEN = "keyplan-studio-token";
if (given && !embedded) {
  sessionStorage.setItem(TOKEN, given);
  here.searchParams.delete("token");
  history.replaceState(null, "", here);
}

export const asked = signal(0); // the number of pending requests
export const refused = signal(false); // whether the token was rejected
export const offline = signal(false); // whether the server doesn't respond

export class Failure extends Error {
  constructor(error) {
    super(error.message);
    this.error = error;
  }
}

export async function ask(action, given = {}, signal_ = undefined) {
  if (embedded) return embedded.answer(action, given);
  const quiet = action === "watch";
  if (!quiet) asked.value += 1;
  try {
    const response = await fetch(`do/${action}`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-keyplan-token": sessionStorage.getItem(TOKEN) ?? "" },
      body: JSON.stringify({ table: address.value.table, ...given }),
      signal: signal_,
    });
    offline.value = false;
    const answer = await response.json().catch(() => ({ error: { code: "NoAnswer", message: "the server's response can't be read" } }));
    if (response.status === 401) refused.value = true;
    if (answer.error && !response.ok) throw new Failure(answer.error);
    return answer;
  } catch (error) {
    if (error instanceof Failure || error.name === "AbortError") throw error;
    offline.value = true;
    throw new Failure({ code: "NoServer", message: "the studio's server doesn't respond", hint: "check whether the studio is still running, and reload the page" });
  } finally {
    if (!quiet) asked.value -= 1;
  }
}

export function setToken(text) {
  sessionStorage.setItem(TOKEN, text.trim());
  refused.value = false;
}

// The URL contains the whole view. Long parts are after the #, which browsers don't send.

const BEHIND = ["edits", "older", "scratch"];
const read = () => ({
  ...(embedded ? {} : Object.fromEntries(new URLSearchParams(location.search))),
  ...Object.fromEntries(new URLSearchParams(location.hash.slice(1))),
});
export const address = signal(read());
const reread = () => { address.value = read(); };
addEventListener("popstate", reread);
addEventListener("hashchange", reread);

export function link(changes, base = address.value) {
  const before = new URLSearchParams(), behind = new URLSearchParams();
  const { table } = address.value;
  for (const [name, value] of Object.entries({ table, ...base, ...changes }))
    if (value !== null && value !== undefined && value !== "") (embedded || BEHIND.includes(name) ? behind : before).set(name, value);
  const [text, rest] = [before.toString(), behind.toString()];
  if (embedded) return `#${rest}`;
  return (text ? `?${text}` : rest ? "?" : "./") + (rest ? `#${rest}` : "");
}

export function go(changes, { replace = false, base = address.value } = {}) {
  const to = link(changes, base);
  history[replace ? "replaceState" : "pushState"](null, "", to === "./" ? location.pathname : to);
  reread();
}

// A module's text from a link, the clipboard or a dropped file runs only after the user has pressed Run on it. This is the
// text that can run; typing continues from it.
let runnable = null;
export const mayRun = (text) => text === null || text === runnable;
export function allowRun(text) { runnable = text; }

// Values that change many times per second are written into the URL when they stop changing.
let resting = 0, waiting = {};
export function rest(changes) {
  waiting = { ...waiting, ...changes };
  clearTimeout(resting);
  resting = setTimeout(() => { const now = waiting; waiting = {}; go(now, { replace: true }); }, 350);
}
export function restless() { clearTimeout(resting); waiting = {}; }

export const view = (name, more = {}) => link({ view: name, ...more }, {});

export function follow(event) {
  // A plain click on a link within the page navigates without a reload.
  const to = event.target.closest?.("a[href]");
  if (!to || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || to.target || to.hasAttribute("download")) return;
  const href = to.getAttribute("href");
  if (!href.startsWith("?") && !(embedded && href.startsWith("#"))) return;
  event.preventDefault();
  restless();
  history.pushState(null, "", href);
  reread();
}

// Data that a view loads when its parameters change

const loaders = [];
const OF_DATA = ["map", "item", "data", "form"];
const here_ = () => address.value.view ?? "map";

// Reload the data of the view; other views reload when they are opened
export function reload({ data = false } = {}) {
  for (const each of loaders) if (!data || OF_DATA.includes(each.action)) each.view === here_() ? each.again() : each.forget();
}

// The page polls the versions of the data and of the design's file. A view that wrote something polls immediately.
let versions = null, polling = false;
export const designChanged = signal(0);
export async function poll() {
  if (embedded || polling || document.hidden || offline.value || refused.value) return;
  polling = true;
  const now = await ask("watch", {}).catch(() => null);
  polling = false;
  if (!now) return;
  const [data, design] = [JSON.stringify(now.data), JSON.stringify(now.design)];
  const [before, changed] = [versions, versions && (versions.design !== design)];
  versions = { data, design };
  if (changed) designChanged.value += 1;
  else if (before && before.data !== data) reload({ data: true });
}

export function loader(action) {
  // before: the data before a refresh of the same request
  const state = signal({ data: null, before: null, error: null, loading: false });
  let last = null, abort = null;
  const made = {
    state,
    action,
    forget() { last = null; },
    load(given, { again = false } = {}) {
      const key = JSON.stringify(given);
      made.view = here_();
      if (key === last && !again) return;
      last = key;
      abort?.abort();
      abort = new AbortController();
      const mine = abort;
      queueMicrotask(() => { state.value = { ...state.value, loading: true }; });
      ask(action, given, mine.signal).then(
        (data) => { if (mine === abort) state.value = { data, before: again ? state.value.data : null, error: null, loading: false }; },
        (error) => { if (mine === abort && error.name !== "AbortError") { state.value = { data: state.value.data, before: null, error: error.error ?? { message: String(error) }, loading: false }; } },
      );
    },
    again() { if (last) made.load(JSON.parse(last), { again: true }); },
  };
  loaders.push(made);
  return made;
}

// After a choice in the palette, the opened view takes the focus, unless the user has moved it meanwhile
let arriving = 0;
export const arrive = () => { arriving = performance.now(); };
export function arrived() {
  const is = arriving && performance.now() - arriving < 5000 && [document.body, document.getElementById("main")].includes(document.activeElement);
  arriving = 0;
  return is;
}

// Small components

export function download(name, text, type) {
  const to = document.createElement("a");
  to.href = URL.createObjectURL(new Blob([text], { type }));
  to.download = name;
  to.click();
  setTimeout(() => URL.revokeObjectURL(to.href), 1000);
}

export const Fault = ({ error, again }) => error && html`
  <div class="fault" role="alert">
    <p><b>${error.message}</b>${error.place ? html` <code>${error.place}</code>` : null}</p>
    ${error.hint ? html`<p>${error.hint}</p>` : null}
    ${error.errors?.length ? html`<ul>${error.errors.map((fault) => html`<li>${fault.place ? html`<code>${fault.place}</code> ` : null}${fault.message}${fault.hint ? html` <span class="quiet">${fault.hint}</span>` : null}</li>`)}</ul>` : null}
    ${again ? html`<button onClick=${again}>Try again</button>` : null}
  </div>`;

export const number = (value, digits = 3) => value === null || value === undefined ? "" : Number(value).toLocaleString("en-US", { maximumSignificantDigits: digits > 3 ? digits : undefined, maximumFractionDigits: 2 });
export const usd = (value) => value === null || value === undefined ? "–" : value !== 0 && Math.abs(value) < 0.01 ? "< $0.01" : `$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
export const many = (count, word) => `${count.toLocaleString("en-US")} ${word}${count === 1 ? "" : "s"}`;

export function Json({ value, label }) {
  return html`<pre class="json" tabindex="0" aria-label=${label ?? "JSON"}>${JSON.stringify(value, null, 2)}</pre>`;
}

// A collapsible part; the URL contains those whose state was changed
export function Folded({ name, open = false, summary, children }) {
  const turned = new Set((address.value.turned ?? "").split(".").filter(Boolean));
  const is = open !== turned.has(name);
  const toggle = (event) => {
    if (event.target !== event.currentTarget || event.target.open === is) return;
    turned.delete(name) || turned.add(name);
    go({ turned: [...turned].join(".") }, { replace: true });
  };
  return html`<details class="request" open=${is} onToggle=${toggle}><summary>${summary}</summary>${children}</details>`;
}

// A stored attribute value in readable form
function binary(base64) {
  const bytes = Math.floor(base64.length * 3 / 4) - (base64.match(/=+$/)?.[0].length ?? 0);
  const first = Array.from(atob(base64.slice(0, 12)).slice(0, 8), (character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join("");
  return bytes <= 8 ? `0x${first}` : `0x${first}… ${bytes} bytes`;
}
export function shownValue(value) {
  const [tag, content] = Object.entries(value ?? {})[0] ?? ["NULL", true];
  if (tag === "S" || tag === "N") return String(content);
  if (tag === "BOOL") return content ? "true" : "false";
  if (tag === "NULL") return "null";
  if (tag === "B") return binary(content);
  if (tag.endsWith("S")) return `{${content.map((element) => tag === "BS" ? binary(element) : element).join(", ")}}`;
  return JSON.stringify(plainValue(value));
}
export function plainValue(value) {
  const [tag, content] = Object.entries(value ?? {})[0] ?? ["NULL", true];
  if (tag === "N") return String(Number(content)) === content ? Number(content) : content; // no digit is lost
  if (tag === "NULL") return null;
  if (tag === "L") return content.map(plainValue);
  if (tag === "M") return Object.fromEntries(Object.entries(content).map(([name, member]) => [name, plainValue(member)]));
  return content;
}

// A text in the URL after the #, compressed
const through = (bytes, stream) => new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer();
export async function packed(text) {
  const bytes = new Uint8Array(await through(text, new CompressionStream("deflate-raw")));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
export async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
  return new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
}

// Arguments in the URL: a.NAME=JSON
export function argumentsOf(params) {
  const given = {};
  for (const [name, text] of Object.entries(params))
    if (name.startsWith("a.")) { try { given[name.slice(2)] = JSON.parse(text); } catch { given[name.slice(2)] = text; } }
  return Object.keys(given).length ? given : null;
}
export function argumentParams(given) {
  return Object.fromEntries(Object.entries(given ?? {}).map(([name, value]) => [`a.${name}`, JSON.stringify(value)]));
}
export function withoutArguments(params) {
  return Object.fromEntries(Object.keys(params).filter((name) => name.startsWith("a.")).map((name) => [name, null]));
}
