// The command palette: Ctrl+K finds every view, access pattern and entity, and every partition on the map.

import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { arrive, ask, embedded, go, html } from "./lib.js";

const opened = signal(false);
const text = signal("");
const at = signal(0);
export const partitions = signal({ list: [], base: {} }); // of the last drawn map, and its part of the URL
let before = null;

export function openPalette() {
  before = document.activeElement;
  text.value = "";
  at.value = 0;
  opened.value = true;
}

// Partitions that the map doesn't show are searched in the table
const found = signal({ text: "", list: [] });
let waiting = 0;
function search(typed) {
  clearTimeout(waiting);
  const wanted = typed.replace(/^partition\s+/, "").trim();
  if (embedded || wanted.length < 2) return;
  waiting = setTimeout(async () => { found.value = { text: typed, list: (await ask("partitions", { text: wanted }).catch(() => ({ partitions: [] }))).partitions }; }, 150);
}

function close() {
  opened.value = false;
  before?.focus?.();
}

addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    opened.value ? close() : openPalette();
  }
});

function entries(about, views, typed) {
  const has = new Set(views.map((view) => view[0]));
  return [
    ...views.map(([name, label]) => ({ kind: "view", label, go: () => go({ view: name }, { base: {} }) })),
    ...about.questions.map((question) => ({ kind: question.kind, label: `${question.id} ${question.name}`, note: question.doc, go: () => go({ view: "map", question: question.name }, { base: {} }) })),
    ...(has.has("run") ? about.questions.map((question) => ({ kind: "run", label: `Run ${question.name}`, note: question.id, go: () => go({ view: "run", question: question.name }, { base: {} }) })) : []),
    ...(has.has("data") ? about.entities.map((entity) => ({ kind: "entity", label: entity, note: "its items", go: () => go({ view: "data", entity: entity }, { base: {} }) })) : []),
    ...(has.has("data") && about.entities.length ? [{ kind: "data", label: "Orphans", note: "items that match no entity, or whose owner is missing", go: () => go({ view: "data", only: "orphans" }, { base: {} }) }] : []),
    ...(has.has("map") ? [{ kind: "map", label: "SVG", note: "save the map", go: () => { const save = document.querySelector(".tools [data-save]"); save ? save.click() : go({ view: "map" }, { base: {} }); } }] : []),
    ...(has.has("change") ? Object.entries({ pattern: "access pattern", entity: "entity", key: "key", index: "index" }).map(([kind, label]) => ({ kind: "change", label: `Add ${label}`, go: () => go({ view: "change", add: kind }, { base: {} }) })) : []),
    ...partitions.value.list.map((partition) => ({ kind: partition.place || "partition", label: partition.title, go: () => go({ view: "map", collection: partition.id }, { base: partitions.value.base }) })),
    ...found.value.list.filter((each) => !partitions.value.list.some((known) => known.id === each.id)).map((each) => ({ kind: "partition", label: each.title, go: () => go({ view: "map", partition: JSON.stringify(each.value), collection: each.id }, { base: {} }) })),
    ...(has.has("data") && typed ? [{ kind: "partition", label: typed, note: "items with this partition key, in Data", always: true, go: () => go({ view: "data", partition: typed }, { base: {} }) }] : []),
  ];
}

function matches(entry, words) {
  const all = `${entry.kind} ${entry.label} ${entry.note ?? ""}`.toLowerCase();
  return words.every((word) => all.includes(word));
}

// Labels that begin with the input come first
function rank(entry, words) {
  const label = entry.label.toLowerCase();
  return entry.always ? 3 : !words.length || label.startsWith(words.join(" ")) ? 0 : label.split(" ").some((part) => part.startsWith(words[0])) ? 1 : 2;
}

export function Palette({ about, views }) {
  const input = useRef(null);
  useLayoutEffect(() => { if (opened.value) input.current?.focus(); }, [opened.value]);
  if (!opened.value) return null;
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matching = entries(about, views, text.value.trim()).filter((entry) => entry.always || matches(entry, words)).sort((a, b) => rank(a, words) - rank(b, words)).slice(0, 60);
  const chosen = Math.min(at.value, matching.length - 1);
  const take = (entry) => { close(); if (!entry) return; document.getElementById("main")?.focus(); arrive(); entry.go(); };
  const key = (event) => {
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown") at.value = Math.min(chosen + 1, matching.length - 1);
    else if (event.key === "ArrowUp") at.value = Math.max(chosen - 1, 0);
    else if (event.key === "Enter") take(matching[chosen]);
    else if (event.key !== "Tab") return;
    event.preventDefault();
  };
  return html`
    <div class="veil" onClick=${(event) => event.target === event.currentTarget && close()}>
      <div class="palette" role="dialog" aria-modal="true" aria-label="Go to">
        <input ref=${input} role="combobox" aria-expanded="true" aria-controls="palette-list" aria-label="Search for a view, access pattern, entity or partition"
          aria-activedescendant=${chosen >= 0 ? `palette-${chosen}` : null} placeholder="Search for a view, access pattern, entity or partition"
          value=${text.value} onInput=${(event) => { text.value = event.target.value; at.value = 0; search(text.value); }} onKeyDown=${key} autocomplete="off" spellcheck="false" />
        <ul id="palette-list" role="listbox" aria-label="Matches">
          ${matching.map((entry, number) => html`<li id=${`palette-${number}`} role="option" aria-selected=${number === chosen}
            ref=${(node) => number === chosen && node?.scrollIntoView({ block: "nearest" })} onMouseMove=${() => { at.value = number; }} onClick=${() => take(entry)}>
            <span class="what">${entry.kind}</span><b>${entry.label}</b><span class="quiet">${entry.note ?? ""}</span></li>`)}
        </ul>
        ${matching.length ? null : html`<p class="quiet none">No match.</p>`}
      </div>
    </div>`;
}
