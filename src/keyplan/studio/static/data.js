// Items as a table, filtered by conditions; edits are staged, previewed, and saved in one transaction.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault, Folded, Json, address, ask, download, go, html, link, loader, many, number, shownValue } from "./lib.js";
import { Changes, Requests } from "./run.js";

const listing = loader("data");
const OPERATORS = ["=", "<>", "<", "<=", ">", ">=", "between", "begins with", "contains", "exists", "not exists"];
const parsed = (text, fallback) => { try { return text ? JSON.parse(text) : fallback; } catch { return fallback; } };
const listed = (text) => (text ? text.split(",") : []);

// What is staged is in the address too, behind the #: a link that is opened has it, and nothing is sent by that.
const edits = signal(parsed(address.value.edits, []).filter?.((edit) => edit?.id && edit.do) ?? []); // {id, do, key, entity, fields, item, was, kind}
const preview = signal(null);
const editing = signal(null); // id and column of the cell that is edited
const creating = signal(null); // the new item's text, while it is written
const busy = signal(false);
const notice = signal("");

const textOf = (value) => value === null || value === undefined ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const editOf = (id) => edits.value.find((edit) => edit.id === id);

function keep(next) {
  edits.value = next;
  preview.value = null;
  go({ edits: next.length ? JSON.stringify(next) : null, preview: null }, { replace: true });
}
const stage = (...given) => keep([...edits.value.filter((edit) => !given.some((each) => each.id === edit.id)), ...given]);
const unstage = (id) => keep(edits.value.filter((edit) => edit.id !== id));

function change(row, name, value) {
  const known = editOf(row.id);
  const fields = { ...(known?.do === "change" ? known.fields : {}), [name]: value };
  const was = row.fields ?? row.stored;
  for (const key of Object.keys(fields)) if (textOf(fields[key]) === textOf(was[key])) delete fields[key];
  if (!Object.keys(fields).length) return unstage(row.id);
  stage({ id: row.id, do: "change", key: row.key, kind: row.kind, fields, was: Object.fromEntries(Object.keys(fields).map((key) => [key, was[key] ?? null])) });
}

async function send(save, again) {
  busy.value = true;
  const given = edits.value;
  try {
    const answer = await ask("edit", { edits: given.map(({ id, kind, ...rest }) => rest), save });
    preview.value = { answer, error: null };
    if (save) { edits.value = []; go({ edits: null, preview: null, pick: null }, { replace: true }); again(); } else go({ preview: "1" }, { replace: true });
  } catch (error) { preview.value = { answer: null, error: error.error ?? { message: String(error) } }; }
  finally { busy.value = false; }
}

// Import and export: the server reads and writes JSON lines and CSV, so that no digit and no type is lost

async function take(given, form) {
  busy.value = true;
  try {
    const answer = await ask("take", { ...given, start: null, form });
    download(`${given.entity ?? "items"}.${form}`, answer.text, form === "csv" ? "text/csv" : "application/x-ndjson");
    notice.value = `${many(answer.items, "item")} exported${answer.more ? "; more remain: set a partition or a condition" : ""}`;
  } catch (error) { preview.value = { answer: null, error: error.error ?? { message: String(error) } }; }
  finally { busy.value = false; }
}

async function bring(file, entity) {
  busy.value = true;
  try {
    const answer = await ask("bring", { entity, form: /\.csv$/i.test(file.name) ? "csv" : "jsonl", text: await file.text() });
    const now = Date.now();
    stage(...answer.edits.map((edit, at) => ({ id: `new-${now}-${at}`, ...edit })));
    const notes = [answer.left_out && `${many(answer.left_out, "claim")} skipped: claims are written with their items`, answer.same && `${many(answer.same, "item")} unchanged`];
    notice.value = notes.filter(Boolean).join("; ");
  } catch (error) {
    const known = error.error ?? { message: String(error) };
    preview.value = { answer: null, error: { ...known, message: `${file.name}: ${known.message}` } };
  } finally { busy.value = false; }
}

// One cell

let returning = null; // the cell that gets the focus back when its field closes

const TAGS = ["S", "N", "B", "BOOL", "NULL", "SS", "NS", "BS", "L", "M"];

// The text of a stored value while it is edited, and back: texts and numbers as they read, all else as DynamoDB has it
const rawText = (value) => { const [tag, content] = Object.entries(value ?? {})[0] ?? []; return tag === "S" || tag === "N" ? content : value ? JSON.stringify(value) : ""; };
function rawValue(text, was) {
  if (!text.trim() && !("S" in (was ?? {}))) return null;
  if (/^\s*\{/.test(text)) { const made = parsed(text, null); const names = Object.keys(made ?? {}); if (names.length === 1 && TAGS.includes(names[0])) return made; }
  return { [was && "N" in was ? "N" : "S"]: text };
}

function Cell({ row, column, writable }) {
  const edit = editOf(row.id);
  const field = row.fields ? (column in row.fields ? column : row.names?.[column]) ?? null : column;
  const staged = edit?.do === "change" && field in edit.fields;
  const stored = row.stored[column];
  const value = staged ? edit.fields[field] : row.fields && field !== null ? row.fields[field] : stored;
  const can = writable && edit?.do !== "delete" && (row.fields ? field !== null : !(column in row.key));
  const text = row.fields && field !== null ? textOf(value) : value ? shownValue(value) : "";
  const place = `${row.id} ${column}`;
  if (editing.value === place) {
    const before = row.fields ? text : rawText(value);
    const leave = (event, kept) => {
      if (editing.value !== place) return;
      editing.value = null;
      // A field shows each line end as \n: the stored ones are kept
      const shown = before.replace(/\r\n?/g, "\n");
      if (!kept || event.target.value === shown) return;
      const typed = before.includes("\r\n") ? event.target.value.replaceAll("\n", "\r\n") : event.target.value;
      if (!row.fields) return change(row, column, rawValue(typed, stored));
      change(row, field, typed === "" && row.fields[field] !== "" ? null : typed);
    };
    return html`<td class="cell"><textarea rows=${Math.min(before.split("\n").length, 12)} title="Enter: stage; Shift+Enter: new line; Escape: cancel" ref=${(node) => node && document.activeElement !== node && node.focus()} aria-label=${`${column} of ${row.kind}`} value=${before} onBlur=${(event) => leave(event, true)}
      onKeyDown=${(event) => { if ((event.key === "Enter" && !event.shiftKey) || event.key === "Escape") { event.preventDefault(); returning = place; leave(event, event.key === "Enter"); } }}></textarea></td>`;
  }
  const tag = stored && !row.fields ? Object.keys(stored)[0] : null;
  return html`<td class=${`cell${staged ? " staged" : ""}`} title=${text.slice(0, 500)}>${can
    ? html`<button class="edit" ref=${(node) => { if (node && returning === place) { returning = null; node.focus(); } }} onClick=${() => { editing.value = place; }} aria-label=${`Edit ${column}: ${text.slice(0, 120) || "empty"}`}>${text.slice(0, 120) || " "}</button>`
    : html`<bdi>${text.slice(0, 120)}</bdi>`}${tag && tag !== "S" ? html`<sup class="quiet">${tag}</sup>` : null}</td>`;
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
      ${condition.operator === "between" ? html`<input aria-label="Upper value" placeholder="and" value=${condition.values?.[1] ?? ""} onChange=${(event) => put(at, { values: [condition.values?.[0] ?? "", event.target.value] })} />` : null}
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
    <label for="new-item"><b>New ${entity ?? "item"}</b> <span class="quiet">${entity ? "its fields as JSON; omit fields with defaults" : "its attributes as DynamoDB JSON"}</span></label>
    <textarea id="new-item" class="code" rows=${Math.min(creating.value.split("\n").length + 1, 14)} value=${creating.value} onInput=${(event) => { creating.value = event.target.value; }} ref=${(node) => node && !node.dataset.seen && (node.dataset.seen = "1", node.focus())}></textarea>
    <div class="bar"><button class="main">Stage</button><button type="button" onClick=${() => { creating.value = null; }}>Cancel</button></div></form>`;
}

function Edit({ edit }) {
  const what = edit.fields ?? edit.item;
  const said = what ? Object.entries(what).map(([name, value]) => `${name}: ${value?.constructor === Object && TAGS.includes(Object.keys(value)[0]) ? shownValue(value) : JSON.stringify(value)}`).join(", ") : "";
  return html`<li><span class=${`finding ${edit.do === "delete" ? "error" : "info"}`}>${edit.do}</span> ${edit.kind} <code>${said.slice(0, 160) || Object.values(edit.key ?? {}).map(shownValue).join(" / ")}</code>
    <button class="small" aria-label="Discard this edit" onClick=${() => unstage(edit.id)}>×</button></li>`;
}

function Staged({ again, writable }) {
  const { answer, error } = preview.value ?? {};
  if (!edits.value.length && !preview.value) return null;
  return html`
    <section class="staged-bar" aria-label="Staged edits" aria-live="polite">
      <div class="bar"><b>${edits.value.length ? many(edits.value.length, "edit") + " staged" : answer?.saved ? "Saved" : "No staged edits"}</b>
        ${edits.value.length ? html`
          <button onClick=${() => send(false, again)} disabled=${busy.value || !writable} title="Ctrl+S">Show changes</button>
          <button class="main" onClick=${() => send(true, again)} disabled=${busy.value || !answer || answer.saved} title=${answer ? null : "show the changes first"}>Save in one transaction</button>
          <button class="danger" onClick=${() => keep([])}>Discard</button>` : html`<button onClick=${() => { preview.value = null; }}>Close</button>`}</div>
      <${Fault} error=${error} />
      ${answer ? html`<div class="two"><${Changes} changes=${answer.changes} planned=${false} title=${answer.saved ? "What changed" : "What would change"} /><${Requests} steps=${answer.requests} /></div>`
        : html`<ul class="edits">${edits.value.map((edit) => html`<${Edit} key=${edit.id} edit=${edit} />`)}</ul>`}
    </section>`;
}

// Which items

const wrapped = (value) => (value && typeof value === "object" ? String(Object.values(value)[0] ?? "") : String(value ?? ""));
const asked = (text) => (/^[{[]/.test(text ?? "") ? parsed(text, text) : text || null); // a text, or JSON of one or more values

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
const waiting = signal([]); // some values of a partition key of several attributes

function InAndOut({ about, params, given, data }) {
  const entity = params.entity ?? null;
  return html`<details class="menu"><summary class="button">Import and export</summary><div>
    <button onClick=${() => take(given, "jsonl")} disabled=${busy.value}>Export JSON lines</button>
    <button onClick=${() => take(given, "csv")} disabled=${busy.value}>Export CSV</button>
    ${about.writable ? html`<label class="button">Import JSON lines or CSV<input class="hidden" type="file" accept=".jsonl,.ndjson,.json,.csv" onChange=${(event) => { const file = event.target.files[0]; if (file) bring(file, entity).finally(() => { event.target.value = ""; }); }} /></label>
      <button onClick=${() => { creating.value = JSON.stringify(skeleton(about, entity, data?.names?.[entity]), null, 2); }}>New ${entity ?? "item"}</button>` : html`<p class="quiet">Read-only.</p>`}</div></details>`;
}

function Row({ row, columns, writable, picked, toggle }) {
  return html`<tr class=${editOf(row.id)?.do === "delete" ? "gone" : ""}>
    ${writable ? html`<td><input type="checkbox" aria-label=${`Select ${Object.values(row.key).map(shownValue).join(" / ")}`} checked=${picked.has(row.id)} onChange=${() => toggle(row.id)} /></td>` : null}
    <th scope="row" title=${row.fault}><a href=${link({ view: "map", item: row.id }, {})}><span class=${`dot k${row.colour}`}></span> ${row.kind}</a>${row.fault ? html` <span class="finding warning" role="img" aria-label=${row.fault}>${address.value.only ? row.fault : "?"}</span>` : null}</th>
    ${columns.map((name) => html`<${Cell} key=${name} row=${row} column=${name} writable=${writable} />`)}</tr>`;
}

function Items({ data, rows, params, writable, loading, hidden }) {
  const columns = data.columns.filter((name) => !hidden.has(name));
  const picked = new Set(listed(params.pick));
  const pick = (ids) => go({ pick: [...ids].join(",") || null }, { replace: true });
  const toggle = (id) => pick(picked.has(id) ? [...picked].filter((other) => other !== id) : [...picked, id]);
  const remove = () => { const given = rows.filter((row) => picked.has(row.id)).map((row) => ({ id: row.id, do: "delete", key: row.key, kind: row.kind })); pick([]); stage(...given); };
  const older = parsed(params.older, []);
  const chosen = rows.filter((row) => picked.has(row.id)).length;
  return html`
    <p class="bar"><b>${many(rows.length, "item")}</b><span class="quiet">${data.request.operation}, ${many(data.looked_at, "item")} evaluated, ${many(data.units, "unit")}${data.next ? "; more remain" : ""}</span>
      ${older.length ? html`<button onClick=${() => go({ start: older.at(-1) ? JSON.stringify(older.at(-1)) : null, older: older.length > 1 ? JSON.stringify(older.slice(0, -1)) : null })}>Previous page</button>` : null}
      ${data.next ? html`<button onClick=${() => go({ start: JSON.stringify(data.next), older: JSON.stringify([...older, parsed(params.start, null)]) })}>Next page</button>` : null}
      ${writable && chosen ? html`<button class="danger" onClick=${remove}>Delete ${chosen}</button>` : null}
      <span class="quiet" role="status">${notice.value}</span></p>
    ${rows.length ? html`<div class="table" tabindex="0" role="region" aria-label="Items" data-loading=${loading ? "" : null}>
      <table class="grid"><thead><tr>${writable ? html`<th scope="col"><input type="checkbox" aria-label="Select all on this page" checked=${rows.every((row) => picked.has(row.id))} onChange=${(event) => pick(event.target.checked ? rows.map((row) => row.id) : [])} /></th>` : null}<th scope="col">Entity</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${rows.map((row) => html`<${Row} key=${row.id} row=${row} columns=${columns} writable=${writable} picked=${picked} toggle=${toggle} />`)}</tbody></table></div>` : html`<p class="note">${data.next ? "No match so far; more items remain." : data.looked_at ? params.only ? "No orphaned items." : "No matching items." : "No items."}</p>`}
    <${Folded} name="request1" summary="The exact request"><${Json} value=${data.request.parameters} /></${Folded}>`;
}

export function View({ about, params }) {
  const where = parsed(params.where, []).filter?.((condition) => condition && typeof condition === "object") ?? [];
  const ready = where.filter((condition) => condition.name && (condition.operator?.endsWith("exists") || (condition.values?.[0] && (condition.operator !== "between" || condition.values[1]))));
  const given = { entity: params.entity ?? null, only: params.only ?? null, index: params.index ?? null, partition: asked(params.partition), conditions: ready.map((condition) => ({ ...condition, values: condition.values ?? [] })), start: parsed(params.start, null), limit: 50 };
  useEffect(() => { listing.load(given); }, [JSON.stringify(given)]);
  const again = () => listing.again();
  useEffect(() => { if (params.preview && edits.value.length && !preview.value && about.writable) send(false, again); }, []);
  useEffect(() => { if (edits.value.length && !params.edits) go({ edits: JSON.stringify(edits.value) }, { replace: true }); }, [params.edits]);
  useEffect(() => {
    // Ctrl+S shows what the staged edits do, and goes to where they are saved
    const shown = async (event) => {
      if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey) || !edits.value.length || !about.writable) return;
      event.preventDefault();
      await send(false, again);
      requestAnimationFrame(() => document.querySelector(".staged-bar button.main")?.focus());
    };
    addEventListener("keydown", shown);
    return () => removeEventListener("keydown", shown);
  }, []);
  const { data, error, loading } = listing.state.value;
  const rows = (data?.rows ?? []).map((row) => ({ ...row, stored: data.items[row.id], names: data.names?.[row.kind] }));
  const hidden = new Set(listed(params.hide));
  return html`
    <div class="page data">
      <h2 class="hidden">Data</h2>
      <header class="bar"><${Place} about=${about} params=${params} columns=${data?.columns ?? []} hidden=${hidden} />
        <${InAndOut} about=${about} params=${params} given=${given} data=${data} /></header>
      <${Conditions} list=${where} columns=${data?.columns ?? []} />
      <${Fault} error=${error} again=${again} />
      <${Creating} about=${about} entity=${params.entity ?? null} />
      <${Staged} again=${again} writable=${about.writable} />
      ${data ? html`<${Items} data=${data} rows=${rows} params=${params} writable=${about.writable} loading=${loading} hidden=${hidden} />` : error ? null : html`<p class="opening">Reading items …</p>`}
    </div>`;
}
