// A grid for the keyboard: one tab stop, arrow keys between cells, Enter edits a cell. Only visible rows are in the
// page. It is independent of items: its view provides each cell's text and control.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { arrived, html } from "./lib.js";

const ROW_PX = 31, MARGIN = 15, ALL_MAX = 120;
const CHARACTER_PX = 7.3;
const HEAD_PX = innerWidth < 700 ? 116 : 172;
const NUMBER = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// A control edits its value as a string; null is no value
const CHOICES = { boolean: ["true", "false"] };
export const optionsOf = (control) => CHOICES[control.kind] ?? control.values;

function Input({ control, value, first, label, leave }) {
  const [wrong, setWrong] = useState("");
  const node = useRef(null);
  useLayoutEffect(() => {
    node.current.focus();
    if (first === null) node.current.select?.();
    else node.current.setSelectionRange(first.length, first.length);
  }, []);
  const check = (text) => setWrong(control.kind === "number" && text.trim() && !NUMBER.test(text.trim()) ? "not a number" : "");
  const key = (event) => {
    event.stopPropagation();
    if (event.key === "Escape") leave(null, "");
    else if (event.key === "Enter" || event.key === "Tab") leave(event.target.value, event.key === "Tab" ? (event.shiftKey ? "ArrowLeft" : "ArrowRight") : "");
    else return;
    event.preventDefault();
  };
  const common = { ref: node, "aria-label": label, onKeyDown: key, onBlur: (event) => leave(event.target.value, null) };
  const options = optionsOf(control);
  if (options) return html`<select ...${common}>${control.optional || !options.includes(value) ? html`<option value="" selected=${value === ""}></option>` : null}${options.map((option) => html`<option selected=${option === value}>${option}</option>`)}</select>`;
  return html`<input ...${common} type=${control.kind === "date" ? "date" : "text"} inputmode=${control.kind === "number" ? "decimal" : null} spellcheck="false" aria-invalid=${wrong ? "true" : null} value=${first ?? value} onInput=${(event) => check(event.target.value)} />${wrong ? html`<span class="cell-fault" role="alert">${wrong}</span>` : null}`;
}

function widths(columns, rows, cellOf) {
  return columns.map((column) => {
    const longest = rows.slice(0, 60).reduce((most, row) => Math.max(most, cellOf(row, column).text.length), column.length + 2);
    return Math.round(Math.min(Math.max(longest, 5), 36) * CHARACTER_PX + 24);
  });
}

/* columns: names; rows: with id; cellOf(row, name): {text, control, value, staged, fault, flashed, label}, control null
   where the cell can't be edited; first(row), head(row): the checkbox and the row's header; commit(row, name, text);
   open(row, name): for values that need more room than a cell; onKey(event, row): what the grid doesn't take. */
export function Grid({ label, columns, rows, cellOf, selection, head, commit, open, sort, onSort, onKey, rowClass }) {
  const box = useRef(null), focus = useRef(false), open_ = useRef(null), pressed = useRef(false);
  const [at, setAt] = useState([0, 0]); // row (-1: the header) and column of the tab stop; column 0 is the row's header
  const [editing, setEditing] = useState(null); // {id, name, first}
  const [seen, setSeen] = useState([0, 60]);
  const [row, column] = [Math.min(at[0], rows.length - 1), Math.min(at[1], columns.length)];

  const scrolled = () => {
    const top = Math.floor(box.current.scrollTop / ROW_PX), shown = Math.ceil(box.current.clientHeight / ROW_PX);
    setSeen([Math.max(top - MARGIN, 0), top + shown + MARGIN]);
  };
  useLayoutEffect(scrolled, [rows.length]);
  useLayoutEffect(() => { if (arrived()) focus.current = true; }, []);
  useLayoutEffect(() => {
    if (!focus.current || editing) return;
    focus.current = false;
    const cell = box.current.querySelector('[data-at][tabindex="0"]');
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  });

  function move(to, across) {
    const next = [Math.max(Math.min(to, rows.length - 1), -1), Math.max(Math.min(across, columns.length), 0)];
    focus.current = true;
    const top = next[0] * ROW_PX, frame = box.current;
    if (next[0] >= 0 && top < frame.scrollTop) frame.scrollTop = top;
    else if (top + 2 * ROW_PX > frame.scrollTop + frame.clientHeight) frame.scrollTop = top + 2 * ROW_PX - frame.clientHeight;
    scrolled();
    setAt(next);
  }

  function start(at, name, first = null) {
    const { control, value } = cellOf(rows[at], name);
    if (!control) return;
    if (control.kind === "json" || (control.kind === "text" && (/[\r\n]/.test(value) || value?.length > 60))) return open(rows[at], name);
    open_.current = { id: rows[at].id, name, first: optionsOf(control) || control.kind === "date" ? null : first };
    setEditing(open_.current);
  }

  function leave(to, text, then) {
    // then: an arrow key, "" for the same cell, null if the focus moved elsewhere
    if (!open_.current) return;
    const { id, name } = open_.current;
    open_.current = null;
    setEditing(null);
    const there = rows.findIndex((each) => each.id === id);
    if (text !== null && there >= 0 && text !== (cellOf(rows[there], name).value ?? "")) commit(rows[there], name, text);
    if (then !== null) move(row, column + ({ ArrowLeft: -1, ArrowRight: 1 }[then] ?? 0));
  }

  function key(event) {
    if (event.target.closest("input, select, textarea") && !event.target.matches("[type=checkbox]")) return;
    const page = Math.max(Math.floor(box.current.clientHeight / ROW_PX) - 2, 1);
    const whole = event.ctrlKey || event.metaKey;
    const moves = { ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1], Home: [whole ? 0 : row, 0], End: [whole ? rows.length - 1 : row, columns.length], PageUp: [Math.max(row - page, 0), column], PageDown: [row + page, column] };
    if (moves[event.key]) move(...moves[event.key]);
    else if (event.key === "Enter" || event.key === "F2") {
      if (row < 0) { focus.current = true; onSort(column ? columns[column - 1] : ""); }
      else if (column) start(row, columns[column - 1]);
      else return;
    } else if (event.key === " " && row >= 0 && selection) selection.toggle(rows[row].id);
    else if (event.key.length === 1 && !whole && !event.altKey && row >= 0 && column) start(row, columns[column - 1], event.key);
    else return onKey?.(event);
    event.preventDefault();
  }

  const stop = (r, c) => (r === row && c === column ? "0" : "-1");
  const place = (r, c) => ({ "data-at": `${r} ${c}`, tabindex: stop(r, c), onFocus: () => { if (r !== row || c !== column) setAt([r, c]); } });
  const sorted = (name) => (sort.name !== name ? null : sort.down ? "descending" : "ascending");
  const header = (name, text, c) => html`<th role="columnheader" aria-sort=${sorted(name)} ...${place(-1, c)} title="Sort" onClick=${() => onSort(name)}>${text}${sorted(name) ? html`<span aria-hidden="true">${sort.down ? " ↓" : " ↑"}</span>` : null}</th>`;
  const [from, to] = rows.length <= ALL_MAX ? [0, rows.length] : [seen[0], Math.min(seen[1], rows.length)];
  const sizes = widths(columns, rows, cellOf);
  const spacer = (count) => (count > 0 ? html`<tr aria-hidden="true" style=${{ height: `${count * ROW_PX}px` }}></tr>` : null);
  return html`<div class="table grid-box" ref=${box} onScroll=${rows.length > ALL_MAX ? scrolled : null}>
    <table class="grid" role="grid" aria-label=${label} aria-rowcount=${rows.length + 1} aria-multiselectable=${selection ? "true" : null} onKeyDown=${key}
      style=${{ width: `${sizes.reduce((sum, each) => sum + each, 0) + HEAD_PX + (selection ? 34 : 0)}px` }}>
      <colgroup>${selection ? html`<col style=${{ width: "34px" }} />` : null}<col style=${{ width: `${HEAD_PX}px` }} />${sizes.map((size) => html`<col style=${{ width: `${size}px` }} />`)}</colgroup>
      <thead><tr role="row" aria-rowindex="1">${selection ? html`<td>${selection.all}</td>` : null}${header("", "Entity", 0)}${columns.map((name, at) => header(name, name, at + 1))}</tr></thead>
      <tbody>${spacer(from)}${rows.slice(from, to).map((each, nth) => {
        const r = from + nth;
        return html`<tr key=${each.id} role="row" aria-rowindex=${r + 2} aria-selected=${selection ? String(selection.has(each.id)) : null} class=${rowClass(each)}>
          ${selection ? html`<td role="gridcell"><input type="checkbox" tabindex="-1" aria-label="Select" checked=${selection.has(each.id)} onChange=${() => selection.toggle(each.id)} /></td>` : null}
          <th role="rowheader" ...${place(r, 0)} onKeyDown=${(event) => { if (event.key === "Enter") event.currentTarget.querySelector("a")?.click(); }}>${head(each)}</th>
          ${columns.map((name, at) => {
            const cell = cellOf(each, name);
            if (editing?.id === each.id && editing.name === name) return html`<td role="gridcell" class="cell editing" key=${name}><${Input} control=${cell.control} value=${cell.value ?? ""} first=${editing.first} label=${`${name} of ${each.kind}`} leave=${(text, then) => leave(to, text, then)} /></td>`;
            return html`<td role="gridcell" key=${name} ...${place(r, at + 1)} class=${`cell${cell.control ? " can" : ""}${cell.staged ? " staged" : ""}${cell.fault ? " faulty" : ""}${cell.flashed ? " flash" : ""}`} title=${cell.fault || cell.text.slice(0, 500)}
              aria-readonly=${cell.control ? null : "true"} aria-invalid=${cell.fault ? "true" : null} onMouseDown=${(event) => { pressed.current = event.currentTarget === document.activeElement; }} onClick=${() => { if (pressed.current) start(r, name); }}><bdi>${cell.text.slice(0, 200)}</bdi>${cell.tag ? html`<sup class="quiet">${cell.tag}</sup>` : null}${cell.fault ? html`<span class="cell-fault">${cell.fault}</span>` : null}</td>`;
          })}</tr>`;
      })}${spacer(rows.length - to)}</tbody></table></div>`;
}
