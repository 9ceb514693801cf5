// The first design of a table without one, inferred from its items.

import { useEffect } from "preact/hooks";
import { Fault, download, html, loader, many } from "./lib.js";
import { Editor } from "./editor.js";

const proposal = loader("first_design");
let text = null;

export function View({ about }) {
  useEffect(() => proposal.load({ table: about.table }), []);
  const { data, error } = proposal.state.value;
  if (!data) return error ? html`<${Fault} error=${error} again=${proposal.again} />` : html`<p class="opening">Reading items …</p>`;
  const file = `${data.design.toLowerCase()}.py`;
  return html`<div class="page"><header class="bar"><h2>A first design</h2><span class="quiet">inferred from ${many(data.items, "item")}: entities from key shapes, fields from attributes</span>
      <button class="main" onClick=${() => download(file, text ?? data.text, "text/x-python")}>Save ${file}</button></header>
    <p class="note">Save the file, correct the guesses, and open it on this table: <code>keyplan studio ${file}:${data.design} --db ${data.url.includes(about.table) ? data.url : `${data.url.replace(/\/$/, "")}/${about.table}`}</code></p>
    ${data.error ? html`<p class="fault" role="alert">${data.error}</p>` : null}
    <div class="two even"><${Editor} text=${data.text} language="python" label="The first design" onChange=${(typed) => { text = typed; }} />
      <div><h3>Guesses to check</h3>${data.notes.length ? html`<ul class="dots">${data.notes.map((note) => html`<li>${note}</li>`)}</ul>` : html`<p class="quiet">None.</p>`}</div></div></div>`;
}
