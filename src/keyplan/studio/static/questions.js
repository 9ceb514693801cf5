// Every access pattern: sorted, filtered, grouped; each with its key condition, its units, its price, its findings.

import { useEffect } from "preact/hooks";
import { Fault, go, html, link, loader, many, number, usd, view } from "./lib.js";

const found = loader("questions");
const COLUMNS = [
  ["id", "Id", (one) => one.id],
  ["question", "Question", (one) => one.pattern],
  ["operation", "Operation", (one) => `${one.operation} ${one.index ?? ""}`],
  ["condition", "Key condition", (one) => one.key_condition],
  ["units", "Units a call", (one) => one.read_units + one.write_units],
  ["usd", "USD a million", (one) => one.usd_million ?? -1],
  ["month", "USD a month", (one) => one.usd_month ?? -1],
  ["findings", "Findings", (one) => one.findings.length],
];
const GROUPS = { "": "nothing", entity: "entity", index: "index", kind: "kind" };
const groupOf = (one, by) => by === "entity" ? one.entities.join(", ") || "writes" : by === "index" ? one.index ?? (one.kind === "write" ? "writes" : "the table") : by === "kind" ? `${one.kind}s` : "";

function Row({ one, traffic }) {
  const [name, rest] = [one.pattern, one.question.slice(one.pattern.length)];
  return html`<tr class=${one.kind}>
    <td><span class=${`id ${one.kind}`}>${one.id}</span></td>
    <td class="signature"><a href=${view("map", { question: name })}><b>${name}</b></a><code>${rest}</code><p class="quiet">${one.doc.split("\n\n")[0]}</p></td>
    <td>${one.operation}${one.index ? html`<br /><code class="quiet">${one.index}</code>` : null}</td>
    <td class="condition">${one.kind === "write" ? html`<span class="quiet">${one.asks.length ? `asks ${one.asks.join(", ")} first` : "writes without reading"}</span>` : html`<code>${one.key_condition}</code>`}
      ${one.filter ? html`<p class="quiet">then keeps <code>${one.filter}</code></p>` : null}</td>
    <td class="figure" data-label="a call">${one.failure ? html`<span class="quiet" title=${one.failure}>unknown</span>` : html`${one.read_units ? html`${number(one.read_units)} read` : null}${one.read_units && one.write_units ? html`<br />` : null}${one.write_units ? html`${number(one.write_units)} write` : null}`}</td>
    <td class="figure" data-label="a million">${usd(one.usd_million)}</td>
    ${traffic ? html`<td class="figure" data-label="a month">${one.per_second === null ? html`<span class="quiet">no rate</span>` : html`${usd(one.usd_month)}<p class="quiet">${number(one.per_second)} a second</p>`}</td>` : null}
    <td>${one.findings.map((each) => html`<a class=${`finding ${each.severity}`} href=${view("check", { finding: each.code })} title=${`${each.rule}: ${each.message}`}>${each.code}</a> `)}</td></tr>`;
}

export function View({ params }) {
  useEffect(() => found.load({}), []);
  const { data, error } = found.state.value;
  const { sort = "", down, q = "", by = "" } = params;
  if (!data) return error ? html`<${Fault} error=${error} again=${() => found.again()} />` : html`<p class="opening">Pricing each question …</p>`;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = data.questions.filter((one) => words.every((word) => JSON.stringify([one.id, one.question, one.doc, one.operation, one.index, one.key_condition]).toLowerCase().includes(word)));
  const columns = data.traffic ? COLUMNS : COLUMNS.filter(([name]) => name !== "month"); // no rates, no month
  const column = columns.find((one) => one[0] === sort);
  if (column) shown = [...shown].sort((a, b) => { const [x, y] = [column[2](a), column[2](b)]; return (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true })) * (down ? -1 : 1); });
  const groups = Map.groupBy ? Map.groupBy(shown, (one) => groupOf(one, by)) : shown.reduce((map, one) => map.set(groupOf(one, by), [...(map.get(groupOf(one, by)) ?? []), one]), new Map());
  return html`
    <div class="page">
      <header class="bar"><h2>${many(shown.length, "question")}</h2>
        <label>Filter <input type="search" value=${q} onInput=${(event) => go({ q: event.target.value }, { replace: true })} /></label>
        <label>Group by <select value=${by} onChange=${(event) => go({ by: event.target.value })}>${Object.entries(GROUPS).map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></label>
        <span class="quiet">on-demand prices of ${data.region}, typical items</span></header>
      <div class="table" tabindex="0" role="region" aria-label="Questions">
        <table><thead><tr>${columns.map(([name, label]) => html`<th scope="col" aria-sort=${sort === name ? (down ? "descending" : "ascending") : "none"}>
          <a href=${link({ sort: name, down: sort === name && !down ? "1" : null })}>${label}<span aria-hidden="true">${sort === name ? (down ? " ↓" : " ↑") : ""}</span></a></th>`)}</tr></thead>
          ${[...groups].map(([title, rows]) => html`<tbody>${title ? html`<tr class="group"><th colspan=${columns.length} scope="rowgroup">${title} <span class="quiet">${rows.length}</span></th></tr>` : null}${rows.map((one) => html`<${Row} one=${one} traffic=${data.traffic} key=${one.pattern} />`)}</tbody>`)}
        </table></div>
    </div>`;
}
