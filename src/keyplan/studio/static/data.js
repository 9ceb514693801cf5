// Items as a grid, filtered by conditions. Edits are staged, previewed, and saved in one transaction (staging.js).

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";
import { Fault, Folded, Json, go, html, link, loader, many, shownValue } from "./lib.js";
import { Changes, Requests } from "./run.js";
import { Editor } from "./editor.js";
import { Grid } from "./grid.js";
import { busy, change, discard, editOf, edits, exportItems, faults, importItems, notice, parsed, preview, redo, send, stage, undo, undoable, unstage } from "./staging.js";

const listing = loader("data");
const OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "between", "begins with", "contains", "exists", "not exists"];
const PAGE = 500, PAGE_AWAY = 50;
const listed = (text) => (text ? text.split(",") : []);

const creating = signal(null); // the text of the new item, while it is edited
const panel = signal(null); // {row, name, text, language}: the value that is edited next to the grid
const TAGS = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"];

// A cell: a field of an entity's item, or a stored attribute of any other item

const textOf = (value) => value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const RAW = { S: "text", N: "number", BOOL: "boolean" };
const oneLine = (text) => text.replace(/\r\n?|\n/g, "⏎");

function cellOf(row, column) {
  const edit = editOf(row.id);
  const field = row.fields ? (column in row.fields ? column : row.names?.[column]) ?? null : column;
  const staged = edit?.do === "change" && field in edit.fields;
  const fault = edit && (faults.value[row.id]?.[field] ?? (staged ? faults.value[row.id]?.[""] : null)) || "";
  const stored = row.stored[column], shown = { staged, fault, flashed: row.changed?.has(column) };
  if (row.fields && field !== null) {
    const value = textOf(staged ? edit.fields[field] : row.fields[field]);
    return { ...shown, field, value, text: oneLine(value), control: edit?.do === "delete" ? null : row.controls?.[field] ?? null };
  }
  const value = staged ? edit.fields[field] : stored;
  const tag = value ? Object.keys(value)[0] : null;
  const can = !row.fields && row.writable && edit?.do !== "delete" && !(column in row.key);
  return { ...shown, field, value: tag in RAW ? String(value[tag]) : tag ? JSON.stringify(value) : "", text: value ? oneLine(shownValue(value)) : "", tag: stored && !row.fields && tag !== "S" ? tag : null, control: can ? { kind: RAW[tag] ?? (tag ? "json" : "text"), optional: true } : null };
}

function commit(row, column, text) {
  const { field, control } = cellOf(row, column);
  if (row.fields) return change(row, field, control.kind === "boolean" && text ? text === "true" : text === "" && (control.optional || control.kind !== "text") ? null : text);
  const tag = Object.keys(row.stored[column] ?? { S: "" })[0];
  change(row, column, tag === "BOOL" && text ? { BOOL: text === "true" } : text === "" && tag !== "S" ? null : { [tag === "N" ? "N" : "S"]: text });
}

// A string of several lines, or JSON, is edited next to the grid

function openPanel(row, name) {
  const { control, field } = cellOf(row, name);
  const edit = editOf(row.id);
  const value = edit?.do === "change" && field in edit.fields ? edit.fields[field] : row.fields ? row.fields[field] : row.stored[name];
  const language = control.kind === "json" ? "json" : "text";
  panel.value = { row, name, language, text: language === "json" ? JSON.stringify(value, null, 2) : row.fields ? value ?? "" : value?.S ?? "", typed: null, wrong: null };
}

function Panel() {
  const { row, name, language, text, typed, wrong } = panel.value;
  const leave = () => { panel.value = null; };
  useLayoutEffect(() => () => document.querySelector('.grid [data-at][tabindex="0"]')?.focus(), []);
  const input = (next) => {
    let fault = null;
    if (language === "json" && next.trim()) try { JSON.parse(next); } catch (error) { fault = error.message; }
    panel.value = { ...panel.value, typed: next, wrong: fault };
  };
  const accept = () => {
    if (wrong) return;
    if (typed !== null && typed !== text) {
      if (language === "text") commit(row, name, typed);
      else change(row, cellOf(row, name).field, typed.trim() ? JSON.parse(typed) : null);
    }
    leave();
  };
  const key = (event) => {
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) accept();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return html`<section class="beside" aria-label=${`Edit ${name} of ${row.kind}`} onKeyDownCapture=${key}>
    <header class="bar"><b>${name}</b> <span class="quiet">of ${row.kind} <code>${Object.values(row.key).map(shownValue).join(" / ")}</code></span></header>
    <${Editor} key=${`${row.id} ${name}`} text=${text} language=${language} label=${`${name} of ${row.kind}`} fault=${wrong ? { line: 1, message: wrong } : null} focused=${true} onChange=${input} />
    ${wrong ? html`<p class="fault" role="alert">${wrong}</p>` : null}
    <div class="bar"><button class="main" onClick=${accept} disabled=${wrong}>Stage <kbd>Ctrl Enter</kbd></button><button onClick=${leave}>Cancel <kbd>Esc</kbd></button></div></section>`;
}

function Conditions({ list, columns }) {
  const set = (next) => { go({ where: next.length ? JSON.stringify(next) : null, start: null, older: null }, { replace: true }); };
  const put = (at, more) => set(list.map((condition, other) => other === at ? { ...condition, ...more } : condition));
  return html`<fieldset class="conditions"><legend class="hidden">Conditions</legend>
    <datalist id="columns">${columns.map((name) => html`<option value=${name}></option>`)}</datalist>
    ${list.map((condition, at) => html`<div class="condition-row" key=${at}>
      <input list="columns" aria-label="Attribute" placeholder="attribute" value=${condition.name} onChange=${(event) => put(at, { name: event.target.value })} />
      <select aria-label="Operator" value=${condition.operator} onChange=${(event) => put(at, { operator: event.target.value })}>${OPERATORS.map((name) => html`<option>${name}</option>`)}</select>
      ${condition.operator.endsWith("exists") ? null : html`<input aria-label="Value" placeholder="value" value=${condition.values?.[0] ?? ""} onChange=${(event) => put(at, { values: [event.target.value, condition.values?.[1] ?? ""] })} />`}
      ${condition.operator === "between" ? html`<input aria-label="Upper bound" placeholder="and" value=${condition.values?.[1] ?? ""} onChange=${(event) => put(at, { values: [condition.values?.[0] ?? "", event.target.value] })} />` : null}
      <button aria-label="Remove the condition" onClick=${() => set(list.filter((_, other) => other !== at))}>×</button></div>`)}
    <button onClick=${() => set([...list, { name: "", operator: "=", values: [""] }])}>Add a condition</button></fieldset>`;
}

// A new item, as JSON

const skeleton = (about, entity, names) => entity ? Object.fromEntries(Object.values(names ?? {}).map((name) => [name, ""])) : Object.fromEntries([...about.keys[""].partition, ...about.keys[""].sort].map((attribute) => [attribute.name, { [attribute.type]: "" }]));

function Creating({ about, entity }) {
  if (creating.value === null) return null;
  const add = (event) => {
    event.preventDefault();
    const made = parsed(creating.value, null);
    if (!made || typeof made !== "object") { preview.value = { answer: null, error: { message: "the new item must be a JSON object" } }; return; }
    creating.value = null;
    const id = `new-${Date.now()}`;
    stage(entity ? { id, do: "create", entity, kind: entity, fields: made } : { id, do: "create", kind: "item", item: made });
  };
  return html`<form class="staged-bar" aria-label="New item" onSubmit=${add}>
    <label for="new-item"><b>New ${entity ?? "item"}</b> <span class="quiet">${entity ? "its fields as JSON; omit fields that have defaults" : "its attributes as DynamoDB JSON"}</span></label>
    <textarea id="new-item" class="code" rows=${Math.min(creating.value.split("\n").length + 1, 14)} value=${creating.value} onInput=${(event) => { creating.value = event.target.value; }} ref=${(node) => node && !node.dataset.seen && (node.dataset.seen = "1", node.focus())}></textarea>
    <div class="bar"><button class="main">Stage</button><button type="button" onClick=${() => { creating.value = null; }}>Cancel</button></div></form>`;
}

function Edit({ edit }) {
  const what = edit.fields ?? edit.item;
  const said = what ? Object.entries(what).map(([name, value]) => `${name}: ${value?.constructor === Object && TAGS.includes(Object.keys(value)[0]) ? shownValue(value) : JSON.stringify(value)}`).join(", ") : "";
  return html`<li><span class=${`finding ${edit.do === "delete" ? "error" : "info"}`}>${edit.do}</span> ${edit.kind} <code>${said.slice(0, 160) || Object.values(edit.key ?? {}).map(shownValue).join(" / ")}</code>
    <button class="small" aria-label="Discard this edit" onClick=${() => unstage(edit.id)}>×</button></li>`;
}

function Staged({ writable }) {
  const { answer, error } = preview.value ?? {};
  if (!edits.value.length && !preview.value) return null;
  return html`
    <section class="staged-bar" aria-label="Staged edits" aria-live="polite">
      <div class="bar"><b>${edits.value.length ? many(edits.value.length, "edit") + " staged" : answer?.undone ? "Undone" : answer?.saved ? "Saved" : "No staged edits"}</b>
        ${edits.value.length ? html`
          <button onClick=${() => send(false)} disabled=${busy.value || !writable} title="Ctrl+S">Show changes</button>
          <button class="main" onClick=${() => send(true)} disabled=${busy.value || !answer || answer.saved} title=${answer ? null : "show the changes first"}>Save in one transaction</button>
          <button class="danger" onClick=${discard}>Discard</button>` : html`<button onClick=${() => { preview.value = null; }}>Close</button>`}</div>
      <${Fault} error=${error} />
      ${answer ? html`<div class="two"><${Changes} changes=${answer.changes} planned=${false} title=${answer.saved ? "What changed" : "What would change"} /><${Requests} steps=${answer.requests} /></div>`
        : html`<ul class="edits">${edits.value.map((edit) => html`<${Edit} key=${edit.id} edit=${edit} />`)}</ul>`}
    </section>`;
}

// The query for items

const wrapped = (value) => (value && typeof value === "object" ? String(Object.values(value)[0] ?? "") : String(value ?? ""));
const asked = (text) => (/^[{[]/.test(text ?? "") ? parsed(text, text) : text || null); // a string, or JSON of one or more values

function Place({ about, params, columns, hidden }) {
  const key = about.keys[params.index ?? ""] ?? about.keys[""];
  const given = [].concat(asked(params.partition) ?? []).map(wrapped);
  const to = (changes) => go({ start: null, older: null, ...changes });
  const put = (at, value) => {
    const next = key.partition.map((_, other) => (other === at ? value : given[other] ?? ""));
    if (next.some((text) => text === "")) { waiting.value = next; if (next.every((text) => text === "")) to({ partition: null }); return; }
    waiting.value = [];
    to({ partition: next.length > 1 ? JSON.stringify(next) : /^[{[]/.test(next[0]) ? JSON.stringify({ [key.partition[0].type]: next[0] }) : next[0] });
  };
  const toggle = (name) => go({ hide: (hidden.has(name) ? [...hidden].filter((other) => other !== name) : [...hidden, name]).join(",") || null }, { replace: true });
  return html`
    ${about.entities.length ? html`<label>Entity <select value=${params.only ? "*" : params.entity ?? ""} onChange=${(event) => to({ entity: event.target.value === "*" ? null : event.target.value || null, only: event.target.value === "*" ? "orphans" : null })}><option value="">every item</option><option value="*">orphans</option>${about.entities.map((name) => html`<option>${name}</option>`)}</select></label>` : null}
    <label>In <select value=${params.index ?? ""} onChange=${(event) => to({ index: event.target.value || null, partition: null })}><option value="">the table</option>${about.indexes.map((name) => html`<option>${name}</option>`)}</select></label>
    ${key.partition.map((attribute, at) => html`<label>${key.partition.length > 1 || !about.entities.length ? html`<code>${attribute.name}</code>` : "Partition"} <input class="code" value=${given[at] ?? waiting.value[at] ?? ""} placeholder=${at ? "" : "whole table"} onChange=${(event) => put(at, event.target.value)} />${attribute.type === "S" ? null : html`<sup title=${attribute.type === "B" ? "binary, as base64" : "a number"}>${attribute.type}</sup>`}</label>`)}
    <details class="menu"><summary class="button">Columns${hidden.size ? html` <span class="quiet">${hidden.size} hidden</span>` : null}</summary><div>${columns.map((name) => html`<label><input type="checkbox" checked=${!hidden.has(name)} onChange=${() => toggle(name)} /> ${name}</label>`)}</div></details>`;
}
const waiting = signal([]); // some values of a multi-attribute partition key

function InAndOut({ about, params, given, data }) {
  const entity = params.entity ?? null;
  return html`<details class="menu"><summary class="button">Import and export</summary><div>
    <button onClick=${() => exportItems(given, "jsonl")} disabled=${busy.value}>Export JSON lines</button>
    <button onClick=${() => exportItems(given, "csv")} disabled=${busy.value}>Export CSV</button>
    ${about.writable ? html`<label class="button">Import JSON lines or CSV<input class="hidden" type="file" accept=".jsonl,.ndjson,.json,.csv" onChange=${(event) => { const file = event.target.files[0]; if (file) importItems(file, entity).finally(() => { event.target.value = ""; }); }} /></label>
      <button onClick=${() => { creating.value = JSON.stringify(skeleton(about, entity, data?.names?.[entity]), null, 2); }}>New ${entity ?? "item"}</button>` : html`<p class="quiet">Read-only.</p>`}</div></details>`;
}

const compared = (left, right) => (left === right ? 0 : left === "" ? 1 : right === "" ? -1 : left.localeCompare(right, "en", { numeric: true }));

function Items({ data, rows, params, writable, hidden }) {
  const columns = data.columns.filter((name) => !hidden.has(name));
  const picked = new Set(listed(params.pick));
  const pick = (ids) => go({ pick: [...ids].join(",") || null }, { replace: true });
  const toggle = (id) => pick(picked.has(id) ? [...picked].filter((other) => other !== id) : [...picked, id]);
  const remove = () => { const given = rows.filter((row) => picked.has(row.id)).map((row) => ({ id: row.id, do: "delete", key: row.key, kind: row.kind })); pick([]); stage(...given); };
  const older = parsed(params.older, []);
  const chosen = rows.filter((row) => picked.has(row.id)).length;
  const sort = { name: params.by ?? null, down: params.down === "1" };
  const of = (row) => (sort.name ? cellOf(row, sort.name).value ?? "" : row.kind);
  const ordered = sort.name === null ? rows : [...rows].sort((a, b) => compared(of(a), of(b)) * (sort.down ? -1 : 1));
  const onSort = (name) => go(sort.name !== name ? { by: name, down: null } : sort.down ? { by: null, down: null } : { down: "1" }, { replace: true });
  const onKey = (event) => { if (event.key === "Delete" && writable && chosen) { remove(); event.preventDefault(); } };
  const head = (row) => html`<a tabindex="-1" href=${link({ view: "map", item: row.id }, {})} title=${row.fault ?? "Show on the map"}><span class=${`dot k${row.colour}`}></span> ${row.kind}</a>${row.fault ? html` <span class="finding warning" role="img" aria-label=${row.fault}>${params.only ? row.fault : "?"}</span>` : null}`;
  return html`
    <p class="bar"><b>${many(rows.length, "item")}</b><span class="quiet">${data.request.operation}, ${many(data.looked_at, "item")} evaluated, ${many(data.units, "unit")}${data.next ? "; more remain" : ""}${sort.name !== null && (data.next || older.length) ? "; this page is sorted" : ""}</span>
      ${older.length ? html`<button onClick=${() => go({ start: older.at(-1) ? JSON.stringify(older.at(-1)) : null, older: older.length > 1 ? JSON.stringify(older.slice(0, -1)) : null })}>Previous page</button>` : null}
      ${data.next ? html`<button onClick=${() => go({ start: JSON.stringify(data.next), older: JSON.stringify([...older, parsed(params.start, null)]) })}>Next page</button>` : null}
      ${writable && chosen ? html`<button class="danger" onClick=${remove}>Delete ${chosen}</button>` : null}
      ${undoable.value ? html`<button onClick=${() => undo()} disabled=${busy.value} title="Ctrl+Z">Undo</button>` : null}
      <span class="quiet" role="status">${notice.value}</span></p>
    <div class=${panel.value ? "grid-and-panel" : "one"}>
    ${rows.length ? html`<${Grid} label="Items" columns=${columns} rows=${ordered} cellOf=${cellOf} head=${head} commit=${commit} open=${openPanel} sort=${sort} onSort=${onSort} onKey=${onKey} rowClass=${(row) => (editOf(row.id)?.do === "delete" ? "gone" : row.changed?.has("") ? "flash" : "")}
      selection=${writable ? { has: (id) => picked.has(id), toggle, all: html`<input type="checkbox" tabindex="-1" aria-label="Select all items on this page" checked=${rows.every((row) => picked.has(row.id))} onChange=${(event) => pick(event.target.checked ? rows.map((row) => row.id) : [])} />` } : null} />` : html`<p class="note">${data.next ? "No item matches so far; more items remain." : data.looked_at ? params.only ? "No orphaned items." : "No matching items." : "No items."}</p>`}
    ${panel.value ? html`<${Panel} />` : null}</div>
    <${Folded} name="request1" summary="The exact request"><${Json} value=${data.request.parameters} /></${Folded}>`;
}

// The columns whose values differ from the data before a refresh; "" for a new item
function changedIn(row, before) {
  if (!before) return null;
  const old = before.items[row.id];
  if (!old) return new Set([""]);
  return new Set([...Object.keys(row.stored), ...Object.keys(old)].filter((name) => JSON.stringify(old[name]) !== JSON.stringify(row.stored[name])));
}

export function View({ about, params }) {
  const where = parsed(params.where, []).filter?.((condition) => condition && typeof condition === "object") ?? [];
  const ready = where.filter((condition) => condition.name && (condition.operator?.endsWith("exists") || (condition.values?.[0] && (condition.operator !== "between" || condition.values[1]))));
  const given = { entity: params.entity ?? null, only: params.only ?? null, index: params.index ?? null, partition: asked(params.partition), conditions: ready.map((condition) => ({ ...condition, values: condition.values ?? [] })), start: parsed(params.start, null), limit: about.local ? PAGE : PAGE_AWAY };
  useEffect(() => { listing.load(given); }, [JSON.stringify(given)]);
    useEffect(() => { if (params.preview && edits.value.length && !preview.value && about.writable) send(false); }, []);
  useEffect(() => { if (edits.value.length && !params.edits) go({ edits: JSON.stringify(edits.value) }, { replace: true }); }, [params.edits]);
  useEffect(() => {
    // Ctrl+S previews the staged edits, and Ctrl+S again saves them; Ctrl+Z undoes, Ctrl+Shift+Z or Ctrl+Y redoes
    const shown = (event) => {
      if (!(event.ctrlKey || event.metaKey) || !about.writable) return;
      const key = event.key.toLowerCase();
      if (key === "s" && edits.value.length && !busy.value) send(!!preview.value?.answer && !preview.value.answer.saved);
      else if (event.composedPath()[0].matches?.("input:not([type=checkbox]), textarea, [contenteditable=true]")) return;
      else if (key === "z" && !event.shiftKey) undo();
      else if (key === "y" || key === "z") redo();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", shown);
    return () => removeEventListener("keydown", shown);
  }, []);
  const { data, before, error } = listing.state.value;
  const rows = useMemo(() => (data?.rows ?? []).map((each) => {
    const row = { ...each, stored: data.items[each.id], names: data.names[each.kind], controls: about.writable ? data.controls[each.kind] : null, writable: about.writable };
    return { ...row, changed: changedIn(row, before) };
  }), [data]);
  const hidden = new Set(listed(params.hide));
  return html`
    <div class="page data">
      <h2 class="hidden">Data</h2>
      <header class="bar"><${Place} about=${about} params=${params} columns=${data?.columns ?? []} hidden=${hidden} />
        <${InAndOut} about=${about} params=${params} given=${given} data=${data} /></header>
      <${Conditions} list=${where} columns=${data?.columns ?? []} />
      <${Fault} error=${error} again=${listing.again} />
      <${Creating} about=${about} entity=${params.entity ?? null} />
      <${Staged} writable=${about.writable} />
      ${data ? html`<${Items} data=${data} rows=${rows} params=${params} writable=${about.writable} hidden=${hidden} />` : error ? null : html`<p class="opening">Reading items …</p>`}
    </div>`;
}
