// The data: items as a table, found by conditions; edits are staged, shown as before and after, and saved in one transaction.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault, Json, ask, go, html, link, loader, many, number, plainValue, shownValue } from "./lib.js";
import { Changes, Requests } from "./run.js";

const found = loader("data");
const OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "between", "begins with", "contains", "exists", "not exists"];
const edits = signal([]); // {id, do, key, entity, fields, was, kind}
const chosen = signal(new Set());
const preview = signal(null);
const editing = signal(null); // id and column of the cell that is edited
const busy = signal(false);
const hidden = signal(new Set());
const older = signal([]); // where the pages before began

const parsed = (text, fallback) => { try { return text ? JSON.parse(text) : fallback; } catch { return fallback; } };
const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
const editOf = (id) => edits.value.find((one) => one.id === id);

function stage(edit) {
  edits.value = [...edits.value.filter((one) => one.id !== edit.id), edit];
  preview.value = null;
}
function unstage(id) { edits.value = edits.value.filter((one) => one.id !== id); preview.value = null; }

function change(row, name, value) {
  const known = editOf(row.id);
  const fields = { ...(known?.do === "change" ? known.fields : {}), [name]: value };
  const was = row.fields ?? row.stored;
  for (const key of Object.keys(fields)) if (same(fields[key], was[key] ?? null)) delete fields[key];
  if (!Object.keys(fields).length) return unstage(row.id);
  stage({ id: row.id, do: "change", key: row.key, kind: row.kind, fields, ...(row.fields ? { was: Object.fromEntries(Object.keys(fields).map((key) => [key, row.fields[key] ?? null])) } : {}) });
}

async function send(save, again) {
  busy.value = true;
  try {
    const answer = await ask("edit", { edits: edits.value.map(({ id, kind, ...rest }) => rest), save });
    preview.value = { answer, error: null };
    if (save) { edits.value = []; chosen.value = new Set(); again(); }
  } catch (error) { preview.value = { answer: null, error: error.error ?? { message: String(error) } }; }
  finally { busy.value = false; }
}

// In and out: JSON lines and CSV

const download = (name, text, type) => { const to = document.createElement("a"); to.href = URL.createObjectURL(new Blob([text], { type })); to.download = name; to.click(); setTimeout(() => URL.revokeObjectURL(to.href), 1000); };
const valuesOf = (row) => row.fields ?? Object.fromEntries(Object.entries(row.stored).map(([name, value]) => [name, plainValue(value)]));
const quoted = (value) => { const text = value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value); return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
function csv(rows) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(valuesOf(row))))];
  return [names, ...rows.map((row) => names.map((name) => valuesOf(row)[name]))].map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
}
export function fromCsv(text) {
  const lines = [[]];
  let cell = "", inside = false;
  for (let at = 0; at < text.length; at++) {
    const one = text[at];
    if (inside) { if (one === '"' && text[at + 1] === '"') { cell += '"'; at++; } else if (one === '"') inside = false; else cell += one; }
    else if (one === '"') inside = true;
    else if (one === "," || one === "\n") { lines.at(-1).push(cell.replace(/\r$/, "")); cell = ""; if (one === "\n") lines.push([]); }
    else cell += one;
  }
  if (cell || lines.at(-1).length) lines.at(-1).push(cell.replace(/\r$/, "")); else lines.pop();
  const [names, ...rows] = lines;
  return rows.filter((row) => row.some(Boolean)).map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]]).filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => { if (/^(\[|\{|true$|false$|null$|-?\d+(\.\d+)?$)/.test(value)) { try { return [name, JSON.parse(value)]; } catch { /* a text */ } } return [name, value]; })));
}
async function bring(file, entity) {
  const text = await file.text();
  try {
    const rows = file.name.endsWith(".csv") ? fromCsv(text) : text.split("\n").filter((line) => line.trim()).map((line, at) => { try { return JSON.parse(line); } catch (error) { throw new Error(`line ${at + 1} isn't JSON: ${error.message}`); } });
    if (rows.length > 100) throw new Error(`${rows.length} items; 100 go into one transaction: keyplan import takes files of any size`);
    for (const [at, fields] of rows.entries()) stage({ id: `new-${Date.now()}-${at}`, do: "create", entity, kind: entity, fields });
  } catch (error) { preview.value = { answer: null, error: { message: `${file.name}: ${error.message}` } }; }
}

// One cell

function Cell({ row, column, writable }) {
  const edit = editOf(row.id);
  const field = row.fields ? (column in row.fields ? column : row.names?.[column]) : null;
  const staged = edit?.do === "change" && (field ?? column) in edit.fields;
  const stored = row.stored[column];
  const value = staged ? edit.fields[field ?? column] : row.fields && field !== null && field !== undefined ? row.fields[field] : stored;
  const can = writable && edit?.do !== "delete" && (row.fields ? field !== null && field !== undefined : !(column in row.key));
  const plain = row.fields && field !== null && field !== undefined;
  const text = plain ? (value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value)) : value ? (editing.value === `${row.id} ${column}` ? JSON.stringify(value) : shownValue(value)) : "";
  const here = editing.value === `${row.id} ${column}`;
  const leave = (event, keep) => {
    if (editing.value !== `${row.id} ${column}`) return;
    editing.value = null;
    const typed = event.target.value;
    if (!keep || typed === text) return;
    const was = row.fields?.[field];
    let next = typed;
    if (!row.fields) { try { next = typed.trim() ? JSON.parse(typed) : null; } catch { next = { S: typed }; } return change(row, column, next); }
    if (typed === "" && was !== "") next = null;
    else if (typeof was !== "string" || /^[[{]/.test(typed)) { try { next = JSON.parse(typed); } catch { next = typed; } }
    change(row, field, next);
  };
  if (here) return html`<td class="cell"><input ref=${(node) => node && document.activeElement !== node && node.focus()} aria-label=${`${column} of ${row.kind}`} value=${text} onBlur=${(event) => leave(event, true)}
    onKeyDown=${(event) => { if (event.key === "Enter") leave(event, true); if (event.key === "Escape") leave(event, false); }} /></td>`;
  const tag = stored && !row.fields ? Object.keys(stored)[0] : null;
  return html`<td class=${`cell${staged ? " staged" : ""}`} title=${text.slice(0, 500)}>${can
    ? html`<button class="edit" onClick=${() => { editing.value = `${row.id} ${column}`; }} aria-label=${`Edit ${column}: ${text.slice(0, 80) || "empty"}`}>${text.slice(0, 120) || " "}</button>`
    : html`<span>${text.slice(0, 120)}</span>`}${tag && tag !== "S" ? html`<sup class="quiet">${tag}</sup>` : null}</td>`;
}

function Conditions({ list, columns }) {
  const set = (next) => { older.value = []; go({ where: next.length ? JSON.stringify(next) : null, start: null }, { replace: true }); };
  const put = (at, more) => set(list.map((one, other) => other === at ? { ...one, ...more } : one));
  return html`<fieldset class="conditions"><legend class="hidden">Conditions</legend>
    <datalist id="columns">${columns.map((one) => html`<option value=${one}></option>`)}</datalist>
    ${list.map((one, at) => html`<div class="condition-row" key=${at}>
      <input list="columns" aria-label="Attribute" placeholder="attribute" value=${one.name} onChange=${(event) => put(at, { name: event.target.value })} />
      <select aria-label="Operator" value=${one.operator} onChange=${(event) => put(at, { operator: event.target.value })}>${OPERATORS.map((name) => html`<option>${name}</option>`)}</select>
      ${one.operator.endsWith("exists") ? null : html`<input aria-label="Value" placeholder="value" value=${one.values?.[0] ?? ""} onChange=${(event) => put(at, { values: [event.target.value, one.values?.[1] ?? ""] })} />`}
      ${one.operator === "between" ? html`<input aria-label="Upper value" placeholder="and" value=${one.values?.[1] ?? ""} onChange=${(event) => put(at, { values: [one.values?.[0] ?? "", event.target.value] })} />` : null}
      <button aria-label="Remove the condition" onClick=${() => set(list.filter((_, other) => other !== at))}>×</button></div>`)}
    <button onClick=${() => set([...list, { name: "", operator: "=", values: [""] }])}>Add a condition</button></fieldset>`;
}

function Staged({ again }) {
  const { answer, error } = preview.value ?? {};
  if (!edits.value.length && !preview.value) return null;
  return html`
    <section class="staged-bar" aria-label="Staged edits" aria-live="polite">
      <div class="bar"><b>${edits.value.length ? many(edits.value.length, "edit") + " staged" : answer?.saved ? "Saved" : "Nothing is staged"}</b>
        ${edits.value.length ? html`
          <button onClick=${() => send(false, again)} disabled=${busy.value}>Show what they do</button>
          <button class="main" onClick=${() => send(true, again)} disabled=${busy.value || !answer || answer.saved} title=${answer ? null : "look at what they do first"}>Save in one transaction</button>
          <button class="danger" onClick=${() => { edits.value = []; preview.value = null; }}>Discard</button>` : html`<button onClick=${() => { preview.value = null; }}>Close</button>`}</div>
      <${Fault} error=${error} />
      ${answer ? html`<div class="two"><${Changes} changes=${answer.changes} planned=${false} /><${Requests} steps=${answer.requests} /></div>`
        : html`<ul class="edits">${edits.value.map((one) => html`<li><span class=${`finding ${one.do === "delete" ? "error" : "info"}`}>${one.do}</span> ${one.kind} <code>${one.fields ? Object.entries(one.fields).map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ").slice(0, 160) : Object.values(one.key).map(shownValue).join(" / ")}</code> <button class="small" aria-label="Discard this edit" onClick=${() => unstage(one.id)}>×</button></li>`)}</ul>`}
    </section>`;
}

export function View({ about, params }) {
  const where = parsed(params.where, []).filter?.((one) => one && typeof one === "object") ?? [];
  const ready = where.filter((one) => one.name && (one.operator.endsWith("exists") || (one.values?.[0] && (one.operator !== "between" || one.values[1]))));
  const given = { entity: params.entity ?? null, index: params.index ?? null, partition: parsed(params.partition, null), conditions: ready.map((one) => ({ ...one, values: one.values ?? [] })), start: parsed(params.start, null), limit: 50 };
  useEffect(() => { found.load(given); }, [JSON.stringify(given)]);
  const again = () => found.again();
  const { data, error, loading } = found.state.value;
  const rows = (data?.rows ?? []).map((row) => ({ ...row, stored: data.items[row.id], names: data.names?.[row.kind] }));
  const columns = (data?.columns ?? []).filter((name) => !hidden.value.has(name));
  const text = (typeof given.partition === "object" && given.partition && !Array.isArray(given.partition)) ? Object.values(given.partition)[0] : Array.isArray(given.partition) ? Object.values(given.partition[0])[0] : "";
  const writable = about.writable;
  const toggle = (id) => { const next = new Set(chosen.value); next.has(id) ? next.delete(id) : next.add(id); chosen.value = next; };
  const partitionOf = (value) => value.trim() ? JSON.stringify(/^\{/.test(value) ? JSON.parse(value) : { S: value }) : null;
  return html`
    <div class="page data">
      <header class="bar">
        <label>Entity <select value=${params.entity ?? ""} onChange=${(event) => { older.value = []; go({ entity: event.target.value || null, start: null }); }}><option value="">every item</option>${about.entities.map((one) => html`<option>${one}</option>`)}</select></label>
        <label>In <select value=${params.index ?? ""} onChange=${(event) => { older.value = []; go({ index: event.target.value || null, start: null }); }}><option value="">the table</option>${about.indexes.map((one) => html`<option>${one}</option>`)}</select></label>
        <label>Partition <input class="code" value=${text} placeholder="whole table" onChange=${(event) => { older.value = []; let to; try { to = partitionOf(event.target.value); } catch { to = JSON.stringify({ S: event.target.value }); } go({ partition: to, start: null }); }} /></label>
        <details class="menu"><summary class="button">Columns</summary><div>${(data?.columns ?? []).map((name) => html`<label><input type="checkbox" checked=${!hidden.value.has(name)} onChange=${() => { const next = new Set(hidden.value); next.has(name) ? next.delete(name) : next.add(name); hidden.value = next; }} /> ${name}</label>`)}</div></details>
        <details class="menu"><summary class="button">In and out</summary><div>
          <button onClick=${() => download("items.jsonl", rows.map((row) => JSON.stringify(valuesOf(row))).join("\n") + "\n", "application/x-ndjson")}>Save as JSON lines</button>
          <button onClick=${() => download("items.csv", csv(rows), "text/csv")}>Save as CSV</button>
          ${writable && params.entity ? html`<label class="button">Bring JSON lines or CSV<input class="hidden" type="file" accept=".jsonl,.ndjson,.json,.csv" onChange=${(event) => { const file = event.target.files[0]; event.target.value = ""; if (file) bring(file, params.entity); }} /></label>
            <button onClick=${() => stage({ id: `new-${Date.now()}`, do: "create", entity: params.entity, kind: params.entity, fields: parsed(prompt(`A new ${params.entity} as JSON`, "{}"), {}) })}>New ${params.entity}</button>` : html`<p class="quiet">${writable ? "Choose an entity to bring items in." : "Reading only."}</p>`}</div></details>
        ${writable && chosen.value.size ? html`<button class="danger" onClick=${() => { for (const row of rows) if (chosen.value.has(row.id)) stage({ id: row.id, do: "delete", key: row.key, kind: row.kind }); chosen.value = new Set(); }}>Delete ${chosen.value.size}</button>` : null}
      </header>
      <${Conditions} list=${where} columns=${data?.columns ?? []} />
      <${Fault} error=${error} again=${again} />
      <${Staged} again=${again} />
      ${data ? html`
        <p class="bar"><b>${many(rows.length, "item")}</b><span class="quiet">${data.request.operation}, ${many(data.looked_at, "item")} looked at, ${number(data.units)} units${data.next ? "; more follow" : ""}</span>
          ${older.value.length ? html`<button onClick=${() => { const start = older.value.at(-1); older.value = older.value.slice(0, -1); go({ start }); }}>Page before</button>` : null}
          ${data.next ? html`<button onClick=${() => { older.value = [...older.value, params.start ?? null]; go({ start: JSON.stringify(data.next) }); }}>Next page</button>` : null}</p>
        <div class="table" tabindex="0" role="region" aria-label="Items" data-loading=${loading ? "" : null}>
          <table class="grid"><thead><tr>${writable ? html`<th scope="col"><input type="checkbox" aria-label="All of this page" checked=${rows.length > 0 && rows.every((row) => chosen.value.has(row.id))} onChange=${(event) => { chosen.value = event.target.checked ? new Set(rows.map((row) => row.id)) : new Set(); }} /></th>` : null}<th scope="col">Entity</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
            <tbody>${rows.map((row) => html`<tr key=${row.id} class=${editOf(row.id)?.do === "delete" ? "gone" : ""}>
              ${writable ? html`<td><input type="checkbox" aria-label=${`Choose ${Object.values(row.key).map(shownValue).join(" / ")}`} checked=${chosen.value.has(row.id)} onChange=${() => toggle(row.id)} /></td>` : null}
              <th scope="row" title=${row.fault}><a href=${link({ view: "map", item: row.id }, {})}><span class=${`dot k${row.colour}`}></span> ${row.kind}</a>${row.fault ? html` <span class="finding warning">?</span>` : null}</th>
              ${columns.map((name) => html`<${Cell} key=${name} row=${row} column=${name} writable=${writable} />`)}</tr>`)}</tbody></table></div>
        <details class="request"><summary>The exact request</summary><${Json} value=${data.request.parameters} /></details>` : error ? null : html`<p class="opening">Looking …</p>`}
    </div>`;
}
