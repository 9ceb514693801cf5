// Compares plans of the design's keys: weights, keys, how each access pattern is served, changes.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault, Folded, allowRun, ask, download, go, html, link, many, mayRun, packed, unpacked, view } from "./lib.js";

const shown = signal(null); // the shown response: plans, or an error
const running = signal(null); // the planner's progress
const failed = signal(null);
const SOON_MS = 400, LATER_MS = 1500;
const WORDS = { "choosing keys": "Choosing keys", "weighing plans": "Weighing plans", verifying: "Verifying plans on generated items" };

let clock = 0, asking = 0;
async function look(wanted, more = {}) {
  clearTimeout(clock);
  const mine = ++asking;
  let wait = LATER_MS;
  try {
    const text = wanted.scratch ? await unpacked(wanted.scratch).catch(() => null) : null;
    if (wanted.scratch && text === null) { go({ scratch: null }, { replace: true }); return; } // a truncated link
    const answer = await ask("plan", { ignore_existing: wanted.ignore_existing, attributes: wanted.attributes, text, run: mayRun(text), version: shown.value?.version ?? null, ...more });
    if (mine !== asking) return;
    failed.value = null;
    running.value = answer.state === "running" ? answer : null;
    if (answer.state === "running") { wait = SOON_MS; if (shown.value?.version !== answer.version || more.again) shown.value = null; }
    else if (!answer.unchanged) shown.value = answer;
  } catch (error) { if (mine !== asking) return; failed.value = error.error ?? { message: String(error) }; }
  clock = setTimeout(() => (document.hidden ? (clock = setTimeout(() => look(wanted), LATER_MS)) : look(wanted)), wait);
}

const Code = ({ text }) => text.split(/(\{\w[^}']*\})/).map((part, at) => at % 2 ? html`<b>${part}</b>` : part);

function Cell({ cell, first, same, span }) {
  if (!cell) return html`<td class="absent">${first ? html`<span class="quiet">absent</span>` : "–"}</td>`;
  const differs = !same && first !== null && JSON.stringify(cell) !== JSON.stringify(first);
  return html`<td colspan=${span} class=${[differs ? "differs" : "", cell.least && !same ? "least" : ""].join(" ").trim() || null}>
    ${cell.text ? html`<code>${cell.new ? html`<ins title="not in the design yet">+ </ins>` : null}<${Code} text=${cell.text} /></code>` : null}
    ${cell.note ? html`<p class="quiet">${cell.note}</p>` : null}
    ${cell.noted?.map((note) => html`<p class=${/\(KP\d+\)/.test(note) ? "noted error" : "noted"}>${note}</p>`)}</td>`;
}

function Row({ row, of, about, count }) {
  const label = of === "questions" && about.views.includes("map") ? html`<a href=${view("map", { question: row.label })}>${row.label}</a>` : row.label;
  return html`<tr data-same=${row.same ? "" : null}><th scope="row">${row.id ? html`<span class="id">${row.id}</span> ` : null}${label || html`<span class="hidden">Notes</span>`}</th>
    ${row.same ? html`<${Cell} cell=${row.cells[0]} first=${null} same=${true} span=${count} />` : row.cells.map((cell, at) => html`<${Cell} cell=${cell} first=${at ? row.cells[0] : null} same=${false} />`)}</tr>`;
}

function Head({ plan, about, params }) {
  const changes = async () => { allowRun(plan.module); go({ view: "change", scratch: await packed(plan.module) }, { base: {} }); };
  const opened = Number(params.declares) === plan.number;
  return html`<th scope="col"><div class="plan-head"><h3>Plan ${plan.number}${plan.number === 1 ? html` <span class="badge first">best</span>` : plan.best ? null : html` <span class="badge">never better than plan 1</span>`}</h3>
    <p>${plan.summary}</p>${plan.why ? html`<p class="quiet">Not the best: ${plan.why}</p>` : null}
    <p class="quiet">${plan.verified ? `Verified on ${many(plan.verified.stores, "generated store")} of ${many(plan.verified.items, "item")}${plan.verified.unanswered.length ? `; without results there: ${plan.verified.unanswered.join(", ")}` : ""}` : "Not verified"}</p>
    <p class="plan-actions">${plan.patch ? html`<a class="button" href=${link({ declares: opened ? null : plan.number })} aria-expanded=${opened ? "true" : "false"}>Declarations</a>` : null}
      ${plan.module && plan.patch && about.views.includes("change") ? html`<button onClick=${changes}>Show what changes</button>` : null}</p></div></th>`;
}

function Declares({ plan, name }) {
  if (!plan) return null;
  const kind = (line) => line.startsWith("+") ? "ins" : line.startsWith("-") ? "del" : "span";
  return html`<section class="declares" aria-label=${`Declarations of plan ${plan.number}`}><header class="bar"><h3>Plan ${plan.number} as a patch of the module</h3>
    ${plan.patch ? html`<button onClick=${() => download(`${name}-plan-${plan.number}.patch`, plan.patch, "text/x-patch")}>Save patch</button>` : null}<a href=${link({ declares: null })}>Close</a></header>
    ${plan.patch ? html`<pre class="json patch" tabindex="0" aria-label="Patch of the module">${plan.patch.split("\n").map((line) => html`<${kind(line)}>${line}\n<//>`)}</pre>` : null}</section>`;
}

function Progress({ wanted }) {
  const { what, done, whole } = running.value;
  return html`<div class="planning" role="status"><p><b>${WORDS[what] ?? "Reading the module"} …</b> <span class="quiet">${whole ? `${done} of ${whole}` : ""}</span></p>
    <progress aria-label="Planning" max=${whole || null} value=${whole ? done : null}></progress>
    <p class="quiet">A separate process chooses, compiles and prices keys, and verifies the results with brute force on generated items. This takes a few seconds to a minute.</p>
    <button onClick=${() => look(wanted, { stop: true })}>Stop and use the best so far</button></div>`;
}

function Error({ error, about, scratch }) {
  return html`<div class="fault" role="alert"><p><b>${error.message}</b>${error.line ? html` <code>line ${error.line}</code>` : null}</p>${error.hint ? html`<p>${error.hint}</p>` : null}</div>
    ${error.errors?.length ? html`<ul class="findings">${error.errors.map((fault) => html`<li class="breaking"><p><code>${fault.place}</code>${fault.line ? html` <span class="quiet">line ${fault.line}</span>` : null}</p><p>${fault.message}</p>${fault.hint ? html`<p class="hint">→ ${fault.hint}</p>` : null}</li>`)}</ul>` : null}
    ${about.views.includes("change") ? html`<p><a href=${link({ view: "change", scratch }, {})}>${scratch ? "Edit the scratch copy" : "Edit a scratch copy of the module"}</a></p>` : null}`;
}

export function View({ about, params }) {
  const wanted = { ignore_existing: Boolean(params.ignore_existing), attributes: Boolean(params.attributes), scratch: params.scratch ?? null };
  useEffect(() => { look(wanted); return () => { clearTimeout(clock); asking += 1; }; }, [JSON.stringify(wanted)]);
  const answer = shown.value, made = answer?.made, plans = made?.plans ?? [];
  const only = Boolean(params.only) && plans.length > 1;
  const groups = (made?.groups ?? []).map((group) => ({ ...group, rows: group.rows.filter((row) => !only || !row.same) })).filter((group) => group.rows.length);
  const waits = running.value !== null || (!answer && !failed.value);
  const kept = plans.length && !plans[0].new;
  return html`
    <div class="page plan">
      <header class="bar"><h2>${waits ? "Planning" : answer?.error ? "No plan" : made ? many(plans.length, "plan") : "Plan"}</h2>
        <label>Existing keys <select value=${wanted.ignore_existing ? "1" : ""} onChange=${(event) => go({ ignore_existing: event.target.value, declares: null })}><option value="">keep</option><option value="1">ignore</option></select></label>
        <label>Index keys <select value=${wanted.attributes ? "1" : ""} onChange=${(event) => go({ attributes: event.target.value, declares: null })}><option value="">one joined string</option><option value="1">multi-attribute</option></select></label>
        ${plans.length > 1 && !waits ? html`<label><input type="checkbox" checked=${only} onChange=${(event) => go({ only: event.target.checked ? "1" : null })} /> Only differences</label>` : null}
        ${waits || !answer || answer.state === "none" ? null : html`<button onClick=${() => look(wanted, { again: true })}>Plan again</button>`}
        ${wanted.scratch ? html`<span class="badge">scratch copy</span><a href=${link({ scratch: null })}>back to the file</a>` : null}</header>
      <${Fault} error=${failed.value} />
      ${waits ? (running.value ? html`<${Progress} wanted=${wanted} />` : html`<p class="opening">Reading the module …</p>`) : null}
      ${!waits && answer?.state === "none" && wanted.scratch ? html`<p class="note"><b>This text hasn't run.</b> It comes from a link. Running it executes Python with your permissions, so read the text first. <button class="main" onClick=${() => { allowRun(answer.text); shown.value = null; look(wanted); }}>Run</button></p>
        <pre class="json" tabindex="0" aria-label="Module source from the link">${answer.text}</pre>` : null}
      ${!waits && answer?.error ? html`<${Error} error=${answer.error} about=${about} scratch=${wanted.scratch} />` : null}
      ${!waits && made ? html`
        ${plans[0].limits.map((limit) => html`<p class="note">The search reached a limit: ${limit}. Fewer indexes may be possible.</p>`)}
        ${plans[0].stopped ? html`<p class="note">Stopped: the best plan so far is shown, without verification.</p>` : null}
        ${kept ? html`<p class="note">No key is missing: the existing keys support every access pattern.</p>` : null}
        ${made.spare.map((name) => html`<p class="note"><b>${name} isn't needed</b>: every access pattern returns the same items in the same order without it.</p>`)}
        ${made.refused.map((text, at) => html`<${Folded} name=${`refused${at}`} summary="A plan is omitted because it returns wrong results"><pre class="json" tabindex="0">${text}</pre></${Folded}>`)}
        <${Declares} plan=${plans[Number(params.declares) - 1]} name=${about.name} />
        <div class="table plans" tabindex="0" role="region" aria-label="Comparison of plans">
          <table><thead><tr><th scope="col" class="corner"><span class="hidden">What</span></th>${plans.map((plan) => html`<${Head} plan=${plan} about=${about} params=${params} />`)}</tr></thead>
            ${groups.map((group) => html`<tbody><tr class="group"><th colspan=${plans.length + 1} scope="rowgroup"><span>${group.title}</span></th></tr>${group.rows.map((row) => html`<${Row} row=${row} of=${group.of} about=${about} count=${plans.length} />`)}</tbody>`)}
          </table></div>
        <p class="quiet legend-plans"><ins>+</ins> not in the design yet; differences from plan 1 are marked.</p>` : null}
    </div>`;
}
