// The findings of keyplan check, each with its location and its rule's page.

import { useEffect } from "preact/hooks";
import { Fault, html, link, loader, many, view } from "./lib.js";

const report = loader("check");

// The Markdown subset of rule pages
const inline = (text) => text.split(/(``[^]+?``|`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)]+\))/).map((part) => part.startsWith("`") ? html`<code>${part.replace(/^`+|`+$/g, "")}</code>` : part.startsWith("**") ? html`<b>${part.slice(2, -2)}</b>` : part.startsWith("[") ? part.slice(1, part.indexOf("]")) : part);
export function Markdown({ text }) {
  const parts = [];
  for (const block of text.split(/```(?:\w*)\n/)) parts.push(block);
  return parts.map((part, at) => at % 2 ? html`<pre class="json" tabindex="0">${part.replace(/\n$/, "")}</pre>` : part.split(/\n{2,}/).filter((block) => block.trim()).map((block) =>
    /^#+ /.test(block) ? html`<h4>${block.replace(/^#+ /, "")}</h4>` : /^[-*] /.test(block) ? html`<ul class="dots">${block.split(/\n(?=[-*] )/).map((item) => html`<li>${inline(item.slice(2))}</li>`)}</ul>` : html`<p>${inline(block)}</p>`));
}

export function View({ about, params }) {
  useEffect(() => report.load({}), []);
  const { data, error } = report.state.value;
  if (!data) return error ? html`<${Fault} error=${error} again=${() => report.again()} />` : html`<p class="opening">Checking …</p>`;
  const shown = data.findings.filter((finding) => params.all || (!finding.silenced && !finding.known));
  const chosen = params.finding ?? shown[0]?.code;
  const manual = data.manuals[chosen];
  const groups = Map.groupBy?.(shown, (finding) => finding.code) ?? shown.reduce((made, finding) => made.set(finding.code, [...(made.get(finding.code) ?? []), finding]), new Map());
  const place = (finding) => about.file?.endsWith(finding.file) ? html`<a href=${view("change", { line: finding.line })}>${finding.file.split(/[\\/]/).at(-1)}:${finding.line}</a>` : html`<code>${finding.file}:${finding.line}</code>`;
  const questionOf = (place) => about.questions.find((question) => place.split(".").includes(question.name));
  return html`
    <div class="page two">
      <div><header class="bar"><h2>${shown.length ? many(shown.length, "finding") : "No findings"}</h2>
        <span class="quiet">${data.rules} rules, ${many(data.patterns, "access pattern")}${data.traffic ? "" : "; without rates, load isn't checked"}</span>
        ${data.silenced ? html`<a href=${link({ all: params.all ? null : "1" })}>${params.all ? "Hide" : "Show"} ${data.silenced} ignored</a>` : null}</header>
        ${shown.length ? null : html`<div class="empty"><p class="note">${data.silenced ? `No findings, except ${data.silenced} that the design ignores with a reason.` : "No rule reports a finding for this design."}</p>
          ${data.traffic ? null : html`<p class="quiet">To check load and limits too, start the studio with <code>--traffic FILE</code>; <code>keyplan traffic</code> writes a template.</p>`}</div>`}
        ${[...groups.values()].map((group) => html`<section class="group" aria-label=${group[0].code} aria-current=${group[0].code === chosen ? "true" : null}>
          <h3><span class=${`finding ${group[0].severity}`}>${group[0].severity}</span> <a href=${link({ finding: group[0].code })}><b>${group[0].code}</b> ${group[0].rule}</a> <span class="quiet">${group.length > 1 ? group.length : ""}</span></h3>
          <ul class="findings">${group.map((finding) => { const question = questionOf(finding.place); return html`<li class=${finding.severity}>
            <p><code>${finding.place}</code>${finding.file ? html` ${place(finding)}` : null}${question ? html` <a href=${view("map", { question: question.name })}>on the map</a>` : null}</p>
            <p>${inline(finding.message)}</p>
            ${finding.arithmetic.map((line) => html`<p class="quiet"><code>${line}</code></p>`)}
            <p class="hint">→ ${inline(finding.hint)}</p>
            ${finding.silenced ? html`<p class="quiet">ignored: ${finding.silenced}</p>` : null}</li>`; })}</ul></section>`)}</div>
      ${manual ? html`<aside class="manual" aria-label=${`Rule ${chosen}`}><h3><span class="id">${chosen}</span> ${manual.title}</h3><${Markdown} text=${manual.manual} /></aside>` : null}
    </div>`;
}
