// The start page: recent designs, the systems, a new file, a Workbench model, an endpoint's tables.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Fault, ask, go, html, loader } from "./lib.js";

const offered = loader("home");
const failed = signal(null);
const busy = signal(false);

export function View({ reopen }) {
  useEffect(() => offered.load({}), []);
  const { data, error } = offered.state.value;
  const open = async (given) => {
    busy.value = true;
    failed.value = null;
    try {
      await ask("open", given);
      go({}, { base: {} });
      await reopen();
    } catch (error) { failed.value = error.error ?? { message: String(error) }; }
    finally { busy.value = false; }
  };
  const submit = (read) => async (event) => { event.preventDefault(); open(await read(new FormData(event.target))); };
  if (!data) return error ? html`<${Fault} error=${error} />` : html`<p class="opening">…</p>`;
  const choice = (given, label, note) => html`<li><button onClick=${() => open(given)} disabled=${busy.value}><b>${label}</b>${note ? html` <span class="quiet">${note}</span>` : null}</button></li>`;
  return html`<div class="page home"><header class="bar"><h2>Open a design or a table</h2></header>
    <${Fault} error=${failed.value} />
    ${data.recent.length ? html`<section aria-label="Recent"><h3>Recent</h3><ul class="choices">${data.recent.map(({ name, db }) => choice({ name, db }, name.split("/").at(-1), db ?? name))}</ul></section>` : null}
    ${data.systems.length ? html`<section aria-label="Systems"><h3>Systems that come with Keyplan</h3><ul class="choices">${data.systems.map((name) => choice({ name }, name, `${name}.db in this folder`))}</ul></section>` : null}
    <section class="forms" aria-label="Open, create or import a design">
      <form onSubmit=${submit((form) => ({ name: form.get("name").trim() }))}><h3>A file, or an endpoint's tables</h3><label>design.py, module:Class, or dynamodb+http://HOST:PORT <input name="name" class="code" required placeholder="dynamodb+http://127.0.0.1:8000" /></label><button class="main" disabled=${busy.value}>Open</button></form>
      <form onSubmit=${submit((form) => ({ path: form.get("path").trim() }))}><h3>A new design</h3><label>File in <code>${data.folder}</code> <input name="path" class="code" required value="design.py" /></label><button disabled=${busy.value}>Create</button></form>
      <form onSubmit=${submit(async (form) => ({ path: form.get("path").trim(), model: await form.get("model").text() }))}><h3>A NoSQL Workbench model</h3><label>Model <input type="file" name="model" accept=".json" required /></label><label>File to write <input name="path" class="code" required value="imported.py" /></label><button disabled=${busy.value}>Import</button></form>
    </section></div>`;
}
