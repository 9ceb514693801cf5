// Compares the open design with its module's file or a scratch copy: errors, changes, and the new map.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Add, KINDS } from "./add.js";
import { Editor } from "./editor.js";
import { Fault, Folded, allowRun, ask, download, go, html, link, mayRun, packed, poll, rest, restless, unpacked, usd } from "./lib.js";

const state = signal(null); // the shown response
const failed = signal(null);
const scratch = signal(null); // the content of the scratch copy; null: the file is watched
const edition = signal(0); // the editor's content was replaced
const WAIT_MS = 1200, SOON_MS = 250;
const HEADINGS = { breaking: "breaks deployed data", migration: "requires a migration", api: "changes the API", safe: "safe" };

// The scratch copy is in the URL after the #, compressed.
const keepScratch = async (text) => rest({ scratch: text === null ? null : await packed(text) });

let asking = 0, soon = 0;
async function look(force, more = {}) {
  if (asking && !force) return;
  clearTimeout(soon);
  const mine = asking = Date.now() + Math.random();
  const before = state.value, text = scratch.value;
  const version = force || before?.state === "running" ? null : before?.version ?? null;
  try {
    const answer = await ask("change", { text, version, run: mayRun(text), ...more });
    if (mine !== asking) return;
    // Until a run ends, the previous result stays visible
    if (!answer.unchanged) state.value = answer.state === "running" && before?.state !== "none" ? { ...before, error: null, ...answer } : answer;
    if (answer.state === "running") soon = setTimeout(() => look(false), SOON_MS);
    failed.value = null;
  } catch (error) { if (mine === asking) failed.value = error.error ?? { message: String(error) }; }
  finally { if (mine === asking) asking = 0; }
}
const run = () => { allowRun(scratch.value); look(true, { again: true }); };

async function fromAddress(packedText) {
  try {
    const text = await unpacked(packedText);
    if (text === scratch.value) return;
    scratch.value = text;
    edition.value += 1;
    state.value = null;
    look(true);
  } catch { go({ scratch: null }, { replace: true }); }
}

function Map({ map }) {
  const holder = useRef(null);
  useEffect(() => {
    holder.current.innerHTML = map.svg;
    for (const row of holder.current.querySelectorAll("[role=button]")) { row.removeAttribute("role"); row.removeAttribute("tabindex"); row.removeAttribute("aria-describedby"); }
    for (const node of holder.current.querySelectorAll("[id]")) node.removeAttribute("id");
    const svg = holder.current.querySelector("svg");
    svg.setAttribute("role", "img");
  }, [map.svg]);
  return html`<div class="still" ref=${holder} tabindex="0" role="region" aria-label="Map of the changed design"></div>`;
}

const PLACE = /^(?:[^.]+\.)?/;

function Prices({ prices }) {
  const [before, after] = prices.map((price) => price.questions);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
  if (!names.length) return html`<p class="quiet">No access pattern costs more or less.</p>`;
  return html`<table class="diff"><caption>USD per million calls, on demand</caption><tbody>${names.map((name) => html`<tr><th scope="row">${name}</th><td>${name in before ? html`<del>${usd(before[name])}</del>` : html`<span class="quiet">new</span>`}</td><td aria-hidden="true">→</td><td>${name in after ? html`<ins>${usd(after[name])}</ins>` : html`<span class="quiet">removed</span>`}</td></tr>`)}</tbody></table>`;
}

export function View({ about, params }) {
  useEffect(() => {
    if (params.scratch) fromAddress(params.scratch);
    else if (scratch.value !== null && !params.scratch) keepScratch(scratch.value);
  }, []);
  useEffect(() => { if (!params.scratch || scratch.value !== null) look(!state.value); const clock = setInterval(() => { if (!document.hidden) look(false); }, WAIT_MS); return () => clearInterval(clock); }, []);
  const comparison = state.value;
  if (!comparison) return failed.value ? html`<${Fault} error=${failed.value} again=${() => look(true)} />` : html`<p class="opening">Reading the module …</p>`;
  useEffect(() => {
    // A link to a line opens the editor at that line
    if (params.line && scratch.value === null && comparison.text) { allowRun(comparison.text); scratch.value = comparison.text; }
  }, [params.line, comparison.version]);
  const typing = useRef(0);
  const typed = (text, foreign) => { if (mayRun(scratch.value) && !foreign) allowRun(text); scratch.value = text; clearTimeout(typing.current); typing.current = setTimeout(() => { look(false); keepScratch(text); }, 350); };
  const put = (text) => { scratch.value = text; edition.value += 1; keepScratch(text); look(true); };
  const back = () => { scratch.value = null; restless(); go({ scratch: null }, { replace: true }); look(true); };
  const write = async () => {
    try { await ask("write_module", { text: scratch.value, version: comparison.file_version }); back(); poll(); }
    catch (error) { failed.value = error.error ?? { message: String(error) }; }
  };
  const save = () => download(`${about.name}.patch`, comparison.patch, "text/x-patch");
  return html`
    <div class="page change">
      <header class="bar"><h2>${comparison.state === "none" ? "Not run" : comparison.state === "running" ? "Running" : comparison.error ? "Invalid design" : comparison.same ? (scratch.value === null ? "No changes" : "No changes yet") : comparison.summary}</h2>
        <code class="quiet">${comparison.file}</code>
        ${comparison.state === "running" ? html`<button onClick=${() => look(true, { stop: true })}>Stop</button>` : scratch.value !== null && (comparison.state === "none" || comparison.error) ? html`<button class="main" onClick=${run}>Run</button>` : null}
        ${scratch.value === null ? html`<span class="badge live">watching the file</span><button onClick=${() => { allowRun(comparison.text); scratch.value = comparison.text; keepScratch(comparison.text); }}>Edit a scratch copy</button>`
          : html`<span class="badge">scratch copy: the file is unchanged</span>${comparison.patch ? html`<button onClick=${save}>Save patch</button><button onClick=${() => navigator.clipboard?.writeText(comparison.patch)}>Copy patch</button>` : null}<button onClick=${back}>Back to the file</button>${comparison.patch ? html`<button class="main" onClick=${write} disabled=${!mayRun(scratch.value)}>Write to the file</button>` : null}`}
        <details class="menu"><summary class="button">Add</summary><div>${Object.entries(KINDS).map(([kind, label]) => html`<a class="button" href=${link({ add: kind })}>${label}</a>`)}</div></details></header>
      ${comparison.outline ? html`<${Add} kind=${params.add} text=${scratch.value ?? comparison.text} outline=${comparison.outline} put=${put} />` : null}
      <${Fault} error=${failed.value} />
      <div class=${scratch.value === null ? "one" : "two even"}>
        ${scratch.value === null ? null : html`<${Editor} key=${edition.value} text=${scratch.value} language="python" line=${Number(params.line) || null} label="The scratch copy of the design's module" words=${comparison.words ?? []} fault=${comparison.error?.line ? { line: comparison.error.line, message: comparison.error.message } : null} onChange=${typed} />`}
        <div>
          ${comparison.state === "none" ? html`<p class="note"><b>This text hasn't run.</b> It comes from a link, the clipboard or a dropped file. Running it executes Python with your permissions, so read the text first.</p>` : null}
          ${comparison.error ? html`<div class="fault" role="alert"><p><b>${comparison.error.message}</b>${comparison.error.line ? html` <code>line ${comparison.error.line}</code>` : null}</p>${comparison.error.hint ? html`<p>${comparison.error.hint}</p>` : null}
            ${comparison.error.errors?.length ? html`<ul>${comparison.error.errors.map((fault) => html`<li><code>${fault.place}</code> ${fault.message}${fault.hint ? html` <span class="quiet">→ ${fault.hint}</span>` : null}</li>`)}</ul>` : null}
            ${comparison.error.errors?.length ? html`<p><a href=${link({ view: "plan", scratch: params.scratch }, {})}>Plan the missing keys</a></p>` : null}</div>` : null}
          ${comparison.error || !comparison.changes ? null : comparison.same ? html`<p class="note">The open design is the same as the ${scratch.value === null ? "file" : "scratch copy"}. Save a change to the file to see its effect on deployed data here, or edit a scratch copy.</p>` : html`
            <ul class="findings">${comparison.changes.map((change) => html`<li class=${change.severity}><p><span class=${`finding ${change.severity}`}>${HEADINGS[change.severity]}</span> <code>${change.place.replace(PLACE, "") || change.place}</code></p>
              <p>${change.what}</p>${change.effect ? html`<p class="quiet">${change.effect}</p>` : null}${change.action ? html`<p class="hint">→ ${change.action}</p>` : null}</li>`)}</ul>
            ${comparison.prices ? html`<${Prices} prices=${comparison.prices} />` : null}`}
          ${comparison.patch && scratch.value !== null ? html`<${Folded} name="patch" open=${true} summary="Differences from the file"><pre class="json" tabindex="0">${comparison.patch}</pre></${Folded}>` : null}
          ${comparison.map ? html`<${Map} map=${comparison.map} />` : null}
        </div></div>
    </div>`;
}
