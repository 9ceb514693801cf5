// The page: a header with the views, the view in the URL, and the palette.

import { render } from "preact";
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault, address, ask, asked, designChanged, embedded, follow, html, offline, poll, refused, reload, setToken, view } from "./lib.js";
import { Palette, openPalette } from "./palette.js";

const VIEWS = [
  ["map", "Map", true],
  ["questions", "Access patterns", false],
  ["run", "Run", false],
  ["data", "Data", true],
  ["cost", "Cost", false],
  ["check", "Check", false],
  ["plan", "Plan", false],
  ["change", "Change", false],
  ["design", "Design", false],
  ["home", "Open", false],
];
const start = signal(null);
const failed = signal(null);
const loaded = signal({});
const tried = signal(false); // a token was entered

const WAIT_MS = 1200;
let clock = 0;
async function open() {
  clearTimeout(clock);
  failed.value = null;
  const lost = offline.value;
  try {
    start.value = await ask("start");
    if (lost) reload();
    if (!start.value.opened) clock = setTimeout(open, WAIT_MS);
    document.title = `${start.value.name} · Studio`;
    poll();
  } catch (error) {
    if (!start.value || !offline.value) failed.value = error.error ?? { message: String(error) };
  }
}

// The page reconnects after the server restarts
offline.subscribe((lost) => { if (lost) clock = setTimeout(reconnect, WAIT_MS); });
async function reconnect() {
  await open();
  if (offline.value) clock = setTimeout(reconnect, WAIT_MS);
}

setInterval(poll, WAIT_MS);
designChanged.subscribe((times) => { if (times) open().then(() => reload()); });

function need(name) {
  if (loaded.value[name] !== undefined) return;
  loaded.value = { ...loaded.value, [name]: null };
  import(`./${name}.js`).then(
    (module) => { loaded.value = { ...loaded.value, [name]: module.View }; },
    (error) => { failed.value = { message: `the view can't be loaded: ${error.message}` }; },
  );
}

const views = (about) => (embedded?.views ?? about.views ?? VIEWS.map(([name]) => name)).map((name) => VIEWS.find((entry) => entry[0] === name));

function Head({ about, current }) {
  const nav = useRef(null);
  useEffect(() => { const to = nav.current.querySelector("[aria-current]"); if (to) nav.current.scrollLeft = to.offsetLeft - nav.current.offsetLeft - 40; }, [current]);
  return html`
    <header class="head">
      <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); (document.querySelector(".stage") ?? document.getElementById("main")).focus(); }}>Skip to ${current === "map" ? "the map" : "the view"}</a>
      <div class="brand">
        <svg viewBox="0 0 32 32" aria-hidden="true"><use href="static/icon.svg#mark"></use></svg>
        <h1>${about.tables?.length ? html`<label><span class="hidden">Table</span><select class="tables" value=${about.table} onChange=${(event) => { location.href = `?${new URLSearchParams({ table: event.target.value, ...(current === "map" ? {} : { view: current }) })}`; }}>${about.tables.map((name) => html`<option>${name}</option>`)}</select></label>` : about.name}</h1>
        <span class="store" title=${about.store}>${about.store}</span>
        ${about.writable || embedded ? null : html`<span class="badge">read-only</span>`}
      </div>
      <nav aria-label="Views" ref=${nav}>
        ${views(about).map(([name, label]) => html`<a href=${view(name)} aria-current=${name === current ? "page" : null}>${label}</a>`)}
      </nav>
      <button class="palette-button" onClick=${openPalette} aria-haspopup="dialog"><span>Go to …</span><kbd>Ctrl K</kbd></button>
      <div class="progress" data-on=${asked.value > 0 ? "" : null} aria-hidden="true"></div>
    </header>`;
}

function FaultyFile({ fault }) {
  return html`<main class="faulty"><h1>${fault.file.split(/[\\/]/).at(-1)}</h1>
    <${Fault} error=${{ ...fault, place: fault.line ? `${fault.file}:${fault.line}` : fault.place ?? fault.file }} />
    ${fault.lines.length ? html`<pre class="json" tabindex="0" aria-label="The lines around the error">${fault.lines.map(([number, text]) => html`<span class=${number === fault.line ? "at" : null}>${`${String(number).padStart(5)}  ${text}`}</span>`)}</pre>` : null}
    <p class="note" role="status">The studio opens when you save the file without this error.</p></main>`;
}

function Gate() {
  const enter = (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get("token").trim();
    setToken(text.match(/[?&]token=([^&#]+)/)?.[1] ?? text); // a whole URL works, too
    tried.value = true;
    open();
  };
  return html`<main class="gate"><h1>Studio</h1>
    <p>${tried.value || start.value ? "This token is invalid, or the server was restarted after the token was issued. " : ""}Open the address that the terminal shows, or enter the token from this address. Each tab needs the token once.</p>
    <form onSubmit=${enter}><label for="token">Token</label><input id="token" name="token" autocomplete="off" required /><button class="main">Open</button></form></main>`;
}

function App() {
  if (refused.value) return html`<${Gate} />`;
  const about = start.value;
  if (!about) return html`<main class="gate">${failed.value ? html`<${Fault} error=${failed.value} again=${open} />` : html`<p>Opening …</p>`}</main>`;
  if (!about.opened) return html`<${FaultyFile} fault=${about.fault} />`;
  const names = views(about).map((entry) => entry[0]);
  const wanted = address.value.view;
  const current = names.includes(wanted) ? wanted : names[0];
  need(current);
  const View = loaded.value[current];
  return html`
    <${Head} about=${about} current=${current} />
    ${offline.value ? html`<p class="fault" role="status">The studio's server doesn't respond. Reconnecting …</p>` : null}
    ${about.fault ? html`<div class="fault" role="alert"><p><b>${about.fault.message}</b> <code>${about.fault.file}${about.fault.line ? `:${about.fault.line}` : ""}</code></p><p>The saved file can't be opened, so the previous design is shown.</p></div>` : null}
    <main id="main" tabindex="-1" class=${`view-${current}`}>
      ${failed.value ? html`<${Fault} error=${failed.value} />` : null}
      ${View ? html`<${View} about=${about} params=${address.value} reopen=${open} />` : html`<p class="opening">…</p>`}
    </main>
    <${Palette} about=${about} views=${views(about)} />`;
}

document.addEventListener("click", follow);
const root = document.getElementById("studio");
root.textContent = "";
render(html`<${App} />`, root);
open();
