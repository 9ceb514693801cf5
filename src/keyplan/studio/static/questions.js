// Every access pattern: sorted, filtered, grouped; each with its key condition, its units, its price, its findings.

import { useEffect } from "preact/hooks";
import { Fault, go, html, link, loader, many, number, usd, view } from "./lib.js";

const estimate = loader("questions");
const COLUMNS = [
  ["id", "Id", (question) => question.id],
  ["question", "Access pattern", (question) => question.pattern],
  ["operation", "Operation", (question) => `${question.operation} ${question.index ?? ""}`],
  ["condition", "Key condition", (question) => question.key_condition],
  ["units", "Units per call", (question) => question.read_units + question.write_units],
  ["usd", "USD per million", (question) => question.usd_million ?? -1],
  ["month", "USD per month", (question) => question.usd_month ?? -1],
  ["findings", "Findings", (question) => question.findings.length],
];
const GROUPS = { "": "nothing", entity: "entity", index: "index", kind: "kind" };
const groupOf = (question, by) => by === "entity" ? question.entities.join(", ") || "writes" : by === "index" ? question.index ?? (question.kind === "write" ? "writes" : "the table") : by === "kind" ? `${question.kind}s` : "";

function Row({ question, traffic }) {
  const [name, rest] = [question.pattern, question.signature.slice(question.pattern.length)];
  return html`<tr class=${question.kind}>
    <td><span class=${`id ${question.kind}`}>${question.id}</span></td>
    <td class="signature"><a href=${view("map", { question: name })}><b>${name}</b></a><code>${rest}</code><p class="quiet">${question.doc.split("\n\n")[0]}</p></td>
    <td>${question.operation}${question.index ? html`<br /><code class="quiet">${question.index}</code>` : null}</td>
    <td class="condition">${question.kind === "write" ? html`<span class="quiet">${question.asks.length ? `reads ${question.asks.join(", ")} first` : "writes without a read"}</span>` : html`<code>${question.key_condition}</code>`}
      ${question.filter ? html`<p class="quiet">filter <code>${question.filter}</code></p>` : null}</td>
    <td class="figure" data-label="per call">${question.failure ? html`<span class="quiet" title=${question.failure}>unknown</span>` : html`${question.read_units ? html`${number(question.read_units)} read` : null}${question.read_units && question.write_units ? html`<br />` : null}${question.write_units ? html`${number(question.write_units)} write` : null}`}</td>
    <td class="figure" data-label="per million">${usd(question.usd_million)}</td>
    ${traffic ? html`<td class="figure" data-label="per month">${question.per_second === null ? html`<span class="quiet">no rate</span>` : html`${usd(question.usd_month)}<p class="quiet">${number(question.per_second)} per second</p>`}</td>` : null}
    <td>${question.findings.map((each) => html`<a class=${`finding ${each.severity}`} href=${view("check", { finding: each.code })} title=${`${each.rule}: ${each.message}`}>${each.code}</a> `)}</td></tr>`;
}

export function View({ params }) {
  useEffect(() => estimate.load({}), []);
  const { data, error } = estimate.state.value;
  const { sort = "", down, q = "", by = "" } = params;
  if (!data) return error ? html`<${Fault} error=${error} again=${() => estimate.again()} />` : html`<p class="opening">Estimating the cost of each access pattern …</p>`;
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = data.questions.filter((question) => words.every((word) => JSON.stringify([question.id, question.signature, question.doc, question.operation, question.index, question.key_condition]).toLowerCase().includes(word)));
  const columns = data.traffic ? COLUMNS : COLUMNS.filter(([name]) => name !== "month"); // no rates, no month
  const column = columns.find((column) => column[0] === sort);
  if (column) shown = [...shown].sort((a, b) => { const [x, y] = [column[2](a), column[2](b)]; return (typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true })) * (down ? -1 : 1); });
  const groups = Map.groupBy ? Map.groupBy(shown, (question) => groupOf(question, by)) : shown.reduce((map, question) => map.set(groupOf(question, by), [...(map.get(groupOf(question, by)) ?? []), question]), new Map());
  return html`
    <div class="page">
      <header class="bar"><h2>${many(shown.length, "access pattern")}</h2>
        <label>Filter <input type="search" value=${q} onInput=${(event) => go({ q: event.target.value }, { replace: true })} /></label>
        <label>Group by <select value=${by} onChange=${(event) => go({ by: event.target.value })}>${Object.entries(GROUPS).map(([value, label]) => html`<option value=${value}>${label}</option>`)}</select></label>
        <span class="quiet">on-demand prices in ${data.region}, estimated for typical items</span></header>
      <div class="table" tabindex="0" role="region" aria-label="Access patterns">
        <table><thead><tr>${columns.map(([name, label]) => html`<th scope="col" aria-sort=${sort === name ? (down ? "descending" : "ascending") : "none"}>
          <a href=${link({ sort: name, down: sort === name && !down ? "1" : null })}>${label}<span aria-hidden="true">${sort === name ? (down ? " ↓" : " ↑") : ""}</span></a></th>`)}</tr></thead>
          ${[...groups].map(([title, rows]) => html`<tbody>${title ? html`<tr class="group"><th colspan=${columns.length} scope="rowgroup">${title} <span class="quiet">${rows.length}</span></th></tr>` : null}${rows.map((question) => html`<${Row} question=${question} traffic=${data.traffic} key=${question.pattern} />`)}</tbody>`)}
        </table></div>
    </div>`;
}
