// Runs an access pattern: a form built from its signature, the result, the exact requests; a write after its dry run.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault, Folded, Json, argumentParams, argumentsOf, arrived, ask, go, html, link, loader, many, number, poll, shownValue, view, withoutArguments } from "./lib.js";

const form = loader("form");
const made = signal(null); // the last call: its arguments and result
const busy = signal(false);
let latest = ""; // the last call, even while it runs
const callKey = (question, given) => JSON.stringify([question, Object.entries(given ?? {}).sort()]);
const SAVED = `keyplan-studio-saved-${location.pathname}`;
const saved = signal(JSON.parse(localStorage.getItem(SAVED) ?? "[]"));
function keep(list) { saved.value = list; localStorage.setItem(SAVED, JSON.stringify(list)); }

// The values of a form: strings and JSON by parameter; empty fields are omitted
function gathered(node) {
  const given = {};
  for (const control of node.querySelectorAll("input[name], select[name], textarea[name]")) {
    const [name, bound] = control.name.split(".");
    const text = control.value;
    if (text.trim() === "") continue;
    let value = text;
    if (control.dataset.kind === "number") value = String(Number(text)) === text.trim() ? Number(text) : text; // no digit is lost
    else if (control.dataset.kind === "lines") value = text.split("\n").map((line) => line.trim()).filter(Boolean);
    else if (control.dataset.kind === "json") value = JSON.parse(text);
    if (bound) (given[name] ??= {})[bound] = value; else given[name] = value;
  }
  return given;
}

function filled(node, given) {
  for (const control of node.querySelectorAll("input[name], select[name], textarea[name]")) {
    const [name, bound] = control.name.split(".");
    if (!given || !(name in given)) continue;
    const value = bound ? given[name]?.[bound] : given[name];
    if (value === undefined || value === null) control.value = "";
    else if (control.dataset.kind === "lines") control.value = [].concat(value).join("\n");
    else if (control.dataset.kind === "json" && control.tagName !== "SELECT") control.value = JSON.stringify(value, null, 2);
    else control.value = typeof value === "object" ? JSON.stringify(value) : String(value);
  }
}

async function run(question, given, send) {
  const mine = latest = callKey(question, given);
  busy.value = true;
  try {
    const answer = await ask("run", { question, arguments: given, send });
    if (mine === latest) made.value = { question, given, answer, error: null };
    if (send) poll();
  } catch (error) {
    if (mine === latest) made.value = { question, given, answer: null, error: error.error ?? { message: String(error) } };
  } finally { busy.value = false; }
}

function Form({ about, params, data }) {
  const node = useRef(null);
  const given = argumentsOf(params);
  useEffect(() => { filled(node.current, given ?? (data.kind === "read" ? data.examples[0] : null)); }, [data.question, JSON.stringify(given)]);
  useEffect(() => { if (arrived()) { const first = node.current.querySelector(".fields input, .fields select, .fields textarea, button"); first.focus(); first.select?.(); } }, [data.question]);
  const submit = (event) => {
    event.preventDefault();
    let entered;
    try { entered = gathered(node.current); } catch (error) { made.value = { question: data.question, given: {}, answer: null, error: { message: `a field isn't valid JSON: ${error.message}` } }; return; }
    run(data.question, entered, event.submitter?.value === "send");
    go({ ...withoutArguments(params), ...argumentParams(entered), ran: "1" }, { replace: true });
  };
  return html`
    <form class="run-form" ref=${node} onSubmit=${submit}>
      <div class="fields" dangerouslySetInnerHTML=${{ __html: data.fields || '<p class="quiet">This access pattern has no parameters.</p>' }}></div>
      ${Object.entries(data.picks).map(([name, items]) => items.length ? html`<label class="examples">${name} <select aria-label=${`${name}: an existing ${items[0].entity}`} onChange=${(event) => { if (event.target.value) filled(node.current, { [name]: items[event.target.value].value }); }}><option value="">an existing ${items[0].entity} …</option>${items.map((item, at) => html`<option value=${at}>${item.label}</option>`)}</select></label>` : null)}
      ${data.examples.length > 1 ? html`<label class="examples">Fill in <select onChange=${(event) => event.target.value && filled(node.current, data.examples[event.target.value])}><option value="">an existing item</option>${data.examples.map((example, at) => html`<option value=${at}>${Object.values(example).map((value) => typeof value === "string" ? value : JSON.stringify(value)).join(", ").slice(0, 60)}</option>`)}</select></label>` : null}
      <div class="actions">
        ${data.kind === "read" ? html`<button class="main" value="read" disabled=${busy.value}>Run</button>` : html`
          <button class="main" value="rehearse" disabled=${busy.value}>Dry run</button>
          <button class="danger" value="send" disabled=${busy.value || !about.writable} title=${about.writable ? null : "this studio is read-only"}>Execute</button>`}
        <button type="button" onClick=${() => { let entered = {}; try { entered = gathered(node.current); } catch {} keep([{ question: data.question, given: entered }, ...saved.value.filter((call) => JSON.stringify(call) !== JSON.stringify({ question: data.question, given: entered }))].slice(0, 30)); }}>Save this call</button>
      </div>
    </form>`;
}

export function Changes({ changes, planned, title }) {
  if (!changes?.length) return null;
  return html`<section aria-label="Changes"><h3>${title ?? (planned ? "What would change" : "What changed")}</h3>
    <ul class="changes">${changes.map((change) => html`<li><p><span class=${`dot k${change.colour}`}></span> <b>${change.kind}</b> <code>${Object.values(change.key).map(shownValue).join(" / ")}</code>${" "}
      <span class="quiet">${change.is === null ? (change.was ? "exists" : "doesn't exist yet") : change.was && change.is ? (change.attributes.length ? "changed" : "unchanged") : change.is ? "created" : change.was ? "deleted" : "absent"}</span></p>
      ${change.attributes.length ? html`<table class="diff"><tbody>${change.attributes.map((each) => html`<tr><th scope="row">${each.name}</th><td>${each.before ? html`<del>${shownValue(each.before).slice(0, 200)}</del>` : null}</td><td aria-hidden="true">→</td><td>${each.after ? html`<ins>${shownValue(each.after).slice(0, 200)}</ins>` : html`<span class="quiet">removed</span>`}</td></tr>`)}</tbody></table>` : null}
      ${change.entries.map((entry) => html`<p class="entry"><span class="quiet">${entry.index}</span> ${entry.before ? html`<del>${entry.before}</del>` : html`<span class="quiet">no entry</span>`} <span aria-hidden="true">→</span> ${entry.after ? html`<ins>${entry.after}</ins>` : html`<span class="quiet">no entry</span>`}</p>`)}</li>`)}</ul></section>`;
}

export function Requests({ steps }) {
  if (!steps.length) return null;
  return html`<section aria-label="Requests"><h3>${steps.length === 1 ? "The exact request" : `The ${steps.length} exact requests`}</h3>
    ${steps.map((step, at) => html`<${Folded} name=${`request${at + 1}`} open=${steps.length < 3} summary=${html`<b>${step.operation}</b> <span class="quiet">${step.condition ?? ""}${step.units ? ` · ${many(step.units, "unit")}` : ""}${step.found ? ` · ${many(step.found, "item")}` : ""}</span>`}><${Json} value=${step.parameters} label=${`${step.operation} request`} /></${Folded}>`)}</section>`;
}

// A list of entities as a table, any other result as JSON
const cellText = (value) => value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const isRow = (value) => value && typeof value === "object" && !Array.isArray(value);

function Entities({ answer }) {
  const rows = Array.isArray(answer?.items) ? answer.items : isRow(answer) ? [answer] : [];
  const names = [...new Set(rows.flatMap((row) => (isRow(row) ? Object.keys(row) : [])))];
  const nested = rows.some((row) => !isRow(row) || Object.values(row).some((value) => Array.isArray(value) ? value.some(isRow) : isRow(value) && rows.length === 1));
  if (!rows.length || nested) return html`<${Json} value=${answer} label="Result" />`;
  return html`<div class="table" tabindex="0" role="region" aria-label="Result as a table"><table class="grid"><thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${names.map((name) => { const text = cellText(row[name]); return html`<td class="cell" title=${text.slice(0, 500)}><bdi>${text.slice(0, 160)}</bdi></td>`; })}</tr>`)}</tbody></table></div>
    <${Folded} name="json" summary="As JSON"><${Json} value=${answer} label="Result" /></${Folded}>`;
}

function Answer({ call, params }) {
  const { answer, error } = call;
  if (!answer) return html`<${Fault} error=${error} />`;
  const items = answer.steps.flatMap((step) => step.items);
  const cursor = answer.answer?.cursor;
  const given = Array.isArray(answer.answer?.items) ? answer.answer.items.length : items.length; // a merge of partitions reads more items than it returns
  const raw = params.raw === "1";
  return html`
    <section class="answer" aria-label="Result" aria-live="polite">
      <p class="bar"><b>${answer.error ? "Failed" : answer.rehearsed === false ? "Done" : answer.rehearsed ? "Dry run: nothing was sent" : many(given, "item")}</b>
        <span class="quiet">${items.length === given ? "" : `${number(items.length)} read, `}${many(answer.steps.length, "request")}, ${many(answer.steps.reduce((sum, step) => sum + step.units, 0), "unit")}, ${answer.milliseconds} ms</span>
        <a href=${view("map", { question: call.question, ...argumentParams(call.given) })}>show on the map</a>
        ${items.length ? html`<a href=${link({ raw: raw ? null : "1" })}>${raw ? "show entities" : "show raw items"}</a>` : null}</p>
      <${Fault} error=${answer.error} />
      <${Changes} changes=${answer.changes} planned=${answer.rehearsed} />
      ${raw ? html`<${Json} value=${items.map((item) => item.item)} label="Raw items" />` : answer.answer !== null && answer.answer !== undefined ? html`<${Entities} answer=${answer.answer} />` : null}
      ${cursor ? html`<button onClick=${() => { const next = { ...call.given, cursor }; run(call.question, next, false); go({ ...withoutArguments(params), ...argumentParams(next), ran: "1" }); }}>Next page</button>` : null}
    </section>
    <${Requests} steps=${answer.steps} />`;
}

export function View({ about, params }) {
  const question = params.question;
  useEffect(() => { if (question) form.load({ question }); }, [question]);
  const { data, error } = form.state.value;
  const current = data?.question === question ? data : null;
  const about_ = about.questions.find((candidate) => candidate.name === question);
  // A link to a result, or Back, repeats the read; for a write, it repeats only the dry run.
  const given = argumentsOf(params) ?? {}, wanted = callKey(question, given);
  useEffect(() => { if (current && (params.ran || (current.kind === "read" && Object.keys(given).length)) && wanted !== latest) run(question, given, false); }, [current, params.ran, wanted]);
  return html`
    <div class="page two wide-right">
      <div class="run-side"><h2 class="hidden">Run</h2>
        <label>Access pattern <select value=${question ?? ""} onChange=${(event) => go({ view: "run", question: event.target.value }, { base: {} })}><option value="">choose …</option>
          ${["read", "write"].map((kind) => html`<optgroup label=${`${kind}s`}>${about.questions.filter((offered) => offered.kind === kind).map((offered) => html`<option value=${offered.name}>${offered.id} ${offered.name}</option>`)}</optgroup>`)}</select></label>
        ${about_ ? html`<p class="doc">${about_.doc}</p>` : null}
        ${question && error ? html`<${Fault} error=${error} />` : null}
        ${current ? html`<p><code>${current.signature}</code></p><${Form} about=${about} params=${params} data=${current} />` : null}
        ${saved.value.length ? html`<section class="saved" aria-label="Saved calls"><h3>Saved calls</h3><ul>${saved.value.map((call, at) => html`<li><a href=${view("run", { question: call.question, ...argumentParams(call.given) })} onClick=${() => run(call.question, call.given, false)}>${call.question}</a> <code class="quiet">${Object.values(call.given).map((value) => typeof value === "string" ? value : JSON.stringify(value)).join(", ").slice(0, 60)}</code> <button class="small" aria-label=${`Remove the saved call of ${call.question}`} onClick=${() => keep(saved.value.filter((_, other) => other !== at))}>×</button></li>`)}</ul></section>` : null}
      </div>
      <div>${made.value?.question === question && question ? html`<${Answer} call=${made.value} params=${params} />` : html`<p class="quiet">${question ? "The result and the exact requests appear here." : "Choose an access pattern."}</p>`}</div>
    </div>`;
}
