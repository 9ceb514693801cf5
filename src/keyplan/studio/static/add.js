// A form that adds an entity, a key, an index or an access pattern to the scratch copy; its diff is shown before the file
// is written.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault, allowRun, ask, go, html } from "./lib.js";

export const KINDS = { pattern: "access pattern", entity: "entity", key: "key", index: "index" };
const RETURNS = { list: "a list", page: "a page with a cursor", one: "one item or none" };
const failed = signal(null);
const entity = signal(null); // the chosen kind

const Text = ({ name, label, ...more }) => html`<label>${label} <input name=${name} class="code" autocomplete="off" spellcheck="false" ...${more} /></label>`;
const Choice = ({ name, label, options, ...more }) => html`<label>${label} <select name=${name} ...${more}>${options.map((option) => { const [value, text] = [].concat(option); return html`<option value=${value}>${text ?? value}</option>`; })}</select></label>`;

export function Add({ kind, text, outline, put }) {
  const node = useRef(null);
  useEffect(() => { failed.value = null; node.current?.querySelector("input, select").focus(); }, [kind]);
  if (!(kind in KINDS)) return null;
  const entities = kind === "pattern" ? { ...outline.entities, ...outline.imported } : outline.entities;
  const names = Object.keys(entities);
  const chosen = names.includes(entity.value) ? entity.value : names[0];
  const close = () => go({ add: null }, { replace: true });
  const submit = async (event) => {
    event.preventDefault();
    const form = new FormData(event.target);
    try {
      const made = await ask("add", { ...Object.fromEntries(form), text, what: kind, parameters: form.getAll("parameters") });
      allowRun(made.text);
      put(made.text);
      close();
    } catch (error) { failed.value = error.error ?? { message: String(error) }; }
  };
  const own = html`<${Choice} name="entity" label="Entity" options=${names} value=${chosen} onChange=${(event) => { entity.value = event.target.value; }} />`;
  return html`<form class="staged-bar add" ref=${node} aria-label=${`Add: ${KINDS[kind]}`} onSubmit=${submit} onKeyDown=${(event) => { if (event.key === "Escape") close(); }}>
    <p><b>New ${KINDS[kind]}</b></p>
    ${kind === "pattern" ? html`<${Text} name="name" label="Name" placeholder="orders_of_customer" required />${own}
      <fieldset><legend>Parameters</legend>${(entities[chosen] ?? []).map((field) => html`<label><input type="checkbox" name="parameters" value=${field} /> <code>${field}</code></label>`)}</fieldset>
      <${Choice} name="returns" label="Returns" options=${Object.entries(RETURNS)} /><${Text} name="doc" label="Description" />`
    : kind === "entity" ? html`<${Text} name="name" label="Name" placeholder="Order" required /><${Text} name="doc" label="Description" />
      <label>Fields, one per line <textarea name="fields" class="code" rows="4" required spellcheck="false" placeholder="order_id: str"></textarea></label>
      <${Text} name="partition" label="Partition key" placeholder="ORDER#{order_id}" required /><${Text} name="sort" label="Sort key" placeholder="#ORDER" />`
    : kind === "key" ? html`<${Text} name="name" label="Name" placeholder="by_customer" required />${own}<${Choice} name="index" label="Index" options=${outline.indexes} />
      <${Text} name="partition" label="Partition key" placeholder="CUSTOMER#{customer_id}" required /><${Text} name="sort" label="Sort key" placeholder="ORDER#{order_id}" />`
    : html`<${Text} name="name" label="Name" placeholder="GSI2" required /><${Text} name="partition" label="Partition key attribute" placeholder="gsi2pk" /><${Text} name="sort" label="Sort key attribute" placeholder="gsi2sk" />`}
    <${Fault} error=${failed.value} />
    <div class="bar"><button class="main">Show the change</button><button type="button" onClick=${close}>Cancel</button></div></form>`;
}
