// What keyplan check finds, each finding at its place, with its rule's page.

import { useEffect } from "preact/hooks";
import { Fault, html, link, loader, many, view } from "./lib.js";

const report = loader("check");

// The little Markdown that a rule's manual has
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
  const questionOf = (place) => about.questions.find((question) => place.split(".").includes(question.name));
  return html`
    <div class="page two">
      <div><header class="bar"><h2>${shown.length ? many(shown.length, "finding") : "No findings"}</h2>
        <span class="quiet">${data.rules} rules, ${many(data.patterns, "access pattern")}${data.traffic ? "" : "; without rates, load isn't checked"}</span>
        ${data.silenced ? html`<a href=${link({ all: params.all ? null : "1" })}>${params.all ? "Hide" : "Show"} ${data.silenced} ignored</a>` : null}</header>
        ${shown.length ? null : html`<div class="empty"><p class="note">${data.silenced ? `No findings, apart from ${data.silenced} ignored with a reason.` : "No rule has a finding for this design."}</p>
          ${data.traffic ? null : html`<p class="quiet">To check load and limits too, start the studio with <code>--traffic FILE</code>; <code>keyplan traffic</code> writes a template.</p>`}</div>`}
        <ul class="findings">${shown.map((finding) => { const question = questionOf(finding.place); return html`<li class=${finding.severity} aria-current=${finding.code === chosen ? "true" : null}>
          <p><span class=${`finding ${finding.severity}`}>${finding.severity}</span> <a href=${link({ finding: finding.code })}><b>${finding.code}</b> ${finding.rule}</a> <code>${finding.place}</code>
            ${question ? html` <a href=${view("map", { question: question.name })}>on the map</a>` : null}</p>
          <p>${inline(finding.message)}</p>
          ${finding.arithmetic.map((line) => html`<p class="quiet"><code>${line}</code></p>`)}
          <p class="hint">→ ${inline(finding.hint)}</p>
          ${finding.file ? html`<p class="quiet"><code>${finding.file}:${finding.line}</code></p>` : null}
          ${finding.silenced ? html`<p class="quiet">ignored: ${finding.silenced}</p>` : null}</li>`; })}</ul></div>
      ${manual ? html`<aside class="manual" aria-label=${`Rule ${chosen}`}><h3><span class="id">${chosen}</span> ${manual.title}</h3><${Markdown} text=${manual.manual} /></aside>` : null}
    </div>`;
}
