// A change of the design: the module is watched, a scratch copy can be edited; faults, what changes, and the new map.

import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { Fault, Folded, ask, download, go, html, link, packed, rest, restless, unpacked, usd } from "./lib.js";

const state = signal(null); // the answer that is shown
const failed = signal(null);
const scratch = signal(null); // the text of the scratch copy; null: the file is watched
const WAIT_MS = 1200;
const HEADINGS = { breaks: "breaks deployed data", migrate: "needs work on deployed data", callers: "changes what callers see", safe: "safe" };

// The scratch copy stands in the address, behind the #, packed.
const keepScratch = async (text) => rest({ scratch: text === null ? null : await packed(text) });

let asking = false;
async function look(force) {
  if (asking && !force) return;
  asking = true;
  try {
    const answer = await ask("change", { text: scratch.value, version: force ? null : state.value?.version ?? null });
    if (!answer.unchanged) state.value = answer;
    failed.value = null;
  } catch (error) { failed.value = error.error ?? { message: String(error) }; }
  finally { asking = false; }
}

function Map({ map }) {
  const holder = useRef(null);
  useEffect(() => {
    holder.current.innerHTML = map.svg;
    for (const row of holder.current.querySelectorAll("[role=button]")) { row.removeAttribute("role"); row.removeAttribute("tabindex"); row.removeAttribute("aria-describedby"); }
    for (const node of holder.current.querySelectorAll("[id]")) node.removeAttribute("id");
    const svg = holder.current.querySelector("svg");
    svg.setAttribute("role", "img");
    svg.removeAttribute("height");
    svg.setAttribute("width", "100%");
  }, [map.svg]);
  return html`<div class="still" ref=${holder}></div>`;
}

function Editor({ text, words, line, onChange }) {
  const holder = useRef(null), editor = useRef(null);
  useEffect(() => {
    let gone = false;
    import("codemirror").then((cm) => {
      if (gone) return;
      // In a shadow root its styles are constructed ones, which the page's policy allows
      const root = holder.current.shadowRoot ?? holder.current.attachShadow({ mode: "open" });
      const shades = cm.HighlightStyle.define([
        { tag: [cm.tags.keyword, cm.tags.operatorKeyword, cm.tags.modifier], color: "var(--blue)" }, { tag: [cm.tags.string, cm.tags.special(cm.tags.string)], color: "var(--green)" },
        { tag: cm.tags.comment, color: "var(--soft)", fontStyle: "italic" }, { tag: [cm.tags.number, cm.tags.bool, cm.tags.null], color: "var(--ochre)" }, { tag: [cm.tags.definition(cm.tags.variableName), cm.tags.className], color: "var(--ink)", fontWeight: "600" }]);
      const theme = cm.EditorView.theme({ "&": { height: "100%", fontSize: "13px", color: "var(--ink)", background: "var(--card)" }, ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)" }, ".cm-gutters": { background: "var(--sunk)", color: "var(--soft)", border: "0" }, "&.cm-focused": { outline: "0" }, ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--blue-wash) 50%, transparent)" }, "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--blue-wash)" }, ".cm-cursor": { borderLeftColor: "var(--ink)" }, ".cm-tooltip": { background: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" } });
      const completes = cm.completeFromList(words.map((label) => ({ label, type: /^[A-Z]/.test(label) ? "class" : "property" })));
      editor.current = new cm.EditorView({
        root, parent: root,
        state: cm.EditorState.create({ doc: text, extensions: [cm.basicSetup, cm.python(), cm.indentUnit.of("    "), theme, cm.syntaxHighlighting(shades), cm.EditorState.languageData.of(() => [{ autocomplete: completes }]), cm.EditorView.contentAttributes.of({ "aria-label": "The scratch copy of the design's module" }), cm.EditorView.updateListener.of((update) => { if (update.docChanged) onChange(update.state.doc.toString()); })] }),
      });
      editor.current.cm = cm;
    });
    return () => { gone = true; editor.current?.destroy(); editor.current = null; };
  }, []);
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const at = line && line <= view.state.doc.lines ? view.state.doc.line(line) : null;
    view.dispatch(view.cm.setDiagnostics(view.state, at ? [{ from: at.from, to: at.to, severity: "error", message: "the fault comes from here" }] : []));
  }, [line, state.value?.version]);
  return html`<div class="editor" ref=${holder}></div>`;
}

const PLACE = /^(?:[^.]+\.)?/;

function Prices({ prices }) {
  const [before, after] = prices.map((price) => price.questions);
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((name) => before[name] !== after[name]);
  if (!names.length) return html`<p class="quiet">No question costs more or less.</p>`;
  return html`<table class="diff"><caption>USD a million calls, on demand</caption><tbody>${names.map((name) => html`<tr><th scope="row">${name}</th><td>${name in before ? html`<del>${usd(before[name])}</del>` : html`<span class="quiet">new</span>`}</td><td aria-hidden="true">→</td><td>${name in after ? html`<ins>${usd(after[name])}</ins>` : html`<span class="quiet">gone</span>`}</td></tr>`)}</tbody></table>`;
}

export function View({ about, params }) {
  useEffect(() => {
    if (params.scratch && scratch.value === null) unpacked(params.scratch).then((text) => { scratch.value = text; look(true); }, () => go({ scratch: null }, { replace: true }));
    else if (scratch.value !== null && !params.scratch) keepScratch(scratch.value);
  }, []);
  useEffect(() => { look(!state.value); const clock = setInterval(() => { if (!document.hidden) look(false); }, WAIT_MS); return () => clearInterval(clock); }, []);
  const comparison = state.value;
  if (!comparison) return failed.value ? html`<${Fault} error=${failed.value} again=${() => look(true)} />` : html`<p class="opening">Reading the module …</p>`;
  const typing = useRef(0);
  const typed = (text) => { scratch.value = text; clearTimeout(typing.current); typing.current = setTimeout(() => { look(false); keepScratch(text); }, 350); };
  const save = () => download(`${about.name}.patch`, comparison.patch, "text/x-patch");
  return html`
    <div class="page change">
      <header class="bar"><h2>${comparison.file === null ? "No file" : comparison.error ? "It can't be compiled" : comparison.same ? (scratch.value === null ? "As it is open" : "No change yet") : comparison.summary}</h2>
        <code class="quiet">${comparison.file ?? "the design's class stands in no file"}</code>
        ${comparison.file === null ? null : scratch.value === null ? html`<span class="badge live">watching the file</span><button onClick=${() => { scratch.value = comparison.text; keepScratch(comparison.text); }}>Edit a scratch copy</button>`
          : html`<span class="badge">scratch copy: the file stays as it is</span>${comparison.patch ? html`<button onClick=${save}>Save the patch</button><button onClick=${() => navigator.clipboard?.writeText(comparison.patch)}>Copy the patch</button>` : null}<button onClick=${() => { scratch.value = null; restless(); go({ scratch: null }, { replace: true }); look(true); }}>Back to the file</button>`}</header>
      <${Fault} error=${failed.value} />
      <div class=${scratch.value === null ? "one" : "two even"}>
        ${scratch.value === null ? null : html`<${Editor} text=${scratch.value} words=${comparison.words ?? []} line=${comparison.error?.line ?? null} onChange=${typed} />`}
        <div>
          ${comparison.error ? html`<div class="fault" role="alert"><p><b>${comparison.error.message}</b>${comparison.error.line ? html` <code>line ${comparison.error.line}</code>` : null}</p>${comparison.error.hint ? html`<p>${comparison.error.hint}</p>` : null}
            ${comparison.error.faults?.length ? html`<ul>${comparison.error.faults.map((fault) => html`<li><code>${fault.place}</code> ${fault.message}${fault.hint ? html` <span class="quiet">→ ${fault.hint}</span>` : null}</li>`)}</ul>` : null}
            ${comparison.error.faults?.length ? html`<p><a href=${link({ view: "plan", scratch: params.scratch }, {})}>Plan the keys that are missing</a></p>` : null}</div>` : null}
          ${comparison.error || comparison.file === null ? null : comparison.same ? html`<p class="note">The design that is open is the ${scratch.value === null ? "file's" : "scratch copy's"}. Save a change of the file, and what it does to the data stands here; or edit a scratch copy.</p>` : html`
            <ul class="findings">${comparison.changes.map((change) => html`<li class=${change.severity}><p><span class=${`finding ${change.severity}`}>${HEADINGS[change.severity]}</span> <code>${change.place.replace(PLACE, "") || change.place}</code></p>
              <p>${change.what}</p>${change.effect ? html`<p class="quiet">${change.effect}</p>` : null}${change.action ? html`<p class="hint">→ ${change.action}</p>` : null}</li>`)}</ul>
            ${comparison.prices ? html`<${Prices} prices=${comparison.prices} />` : null}`}
          ${comparison.patch && scratch.value !== null ? html`<${Folded} name="patch" summary="The patch"><pre class="json" tabindex="0">${comparison.patch}</pre></${Folded}>` : null}
          ${comparison.map ? html`<${Map} map=${comparison.map} />` : null}
        </div></div>
    </div>`;
}
