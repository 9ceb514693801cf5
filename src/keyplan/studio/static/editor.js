// A text editor: CodeMirror, loaded when first shown.

import { useEffect, useRef } from "preact/hooks";
import { html } from "./lib.js";

const THEME = { "&": { height: "100%", fontSize: "13px", color: "var(--ink)", background: "var(--card)" }, ".cm-content": { fontFamily: "var(--mono)", caretColor: "var(--ink)" }, ".cm-gutters": { background: "var(--sunk)", color: "var(--soft)", border: "0" }, "&.cm-focused": { outline: "0" }, ".cm-activeLine, .cm-activeLineGutter": { background: "color-mix(in srgb, var(--blue-wash) 50%, transparent)" }, "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--blue-wash)" }, ".cm-cursor": { borderLeftColor: "var(--ink)" }, ".cm-tooltip": { background: "var(--card)", color: "var(--ink)", border: "1px solid var(--line)" } };

const shades = (cm) => cm.HighlightStyle.define([
  { tag: [cm.tags.keyword, cm.tags.operatorKeyword, cm.tags.modifier], color: "var(--blue)" },
  { tag: [cm.tags.string, cm.tags.special(cm.tags.string)], color: "var(--green)" },
  { tag: cm.tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [cm.tags.number, cm.tags.bool, cm.tags.null], color: "var(--ochre)" },
  { tag: [cm.tags.definition(cm.tags.variableName), cm.tags.className, cm.tags.propertyName], color: "var(--ink)", fontWeight: "600" }]);

// Settings by language. Line breaks and spaces are kept: a new line break is CRLF only if all others are.
const ENTER = { key: "Enter", run: (view) => { view.dispatch(view.state.replaceSelection(view.state.lineBreak), { scrollIntoView: true }); return true; } };
function extensions(cm, language, text, words) {
  const breaks = cm.EditorState.lineSeparator.of(/\r\n/.test(text) && !/(^|[^\r])\n/.test(text) ? "\r\n" : "\n");
  if (language === "python") {
    const completes = cm.completeFromList(words.map((label) => ({ label, type: /^[A-Z]/.test(label) ? "class" : "property" })));
    return [cm.basicSetup, breaks, cm.python(), cm.indentUnit.of("    "), cm.EditorState.languageData.of(() => [{ autocomplete: completes }])];
  }
  return [...(language === "json" ? [cm.basicSetup, cm.json()] : [cm.keymap.of([ENTER]), cm.minimalSetup]), breaks, cm.EditorView.lineWrapping];
}

// onChange receives the text, and whether it was pasted or dropped; fault is {line, message} or null
export function Editor({ text, language = "text", label, words = [], fault = null, line = null, focused = false, onChange, onKeyDown }) {
  const holder = useRef(null), editor = useRef(null);
  useEffect(() => {
    let gone = false;
    import("codemirror").then((cm) => {
      if (gone) return;
      // In a shadow root, CodeMirror uses constructed style sheets, which the page's policy allows
      const root = holder.current.shadowRoot ?? holder.current.attachShadow({ mode: "open" });
      const listener = cm.EditorView.updateListener.of((update) => { if (update.docChanged) onChange(update.state.sliceDoc(), update.transactions.some((each) => each.isUserEvent("input.paste") || each.isUserEvent("input.drop"))); });
      const view = new cm.EditorView({ root, parent: root, state: cm.EditorState.create({ doc: text, extensions: [...extensions(cm, language, text, words), cm.EditorView.theme(THEME), cm.syntaxHighlighting(shades(cm)), cm.EditorView.contentAttributes.of({ "aria-label": label }), listener] }) });
      view.cm = cm;
      editor.current = view;
      if (line && line <= view.state.doc.lines) view.dispatch({ selection: { anchor: view.state.doc.line(line).from }, effects: cm.EditorView.scrollIntoView(view.state.doc.line(line).from, { y: "center" }) });
      if (focused) view.focus();
    });
    return () => { gone = true; editor.current?.destroy(); editor.current = null; };
  }, []);
  useEffect(() => {
    const view = editor.current;
    if (!view) return;
    const at = fault && fault.line <= view.state.doc.lines ? view.state.doc.line(fault.line) : null;
    view.dispatch(view.cm.setDiagnostics(view.state, at ? [{ from: at.from, to: at.to, severity: "error", message: fault.message }] : []));
  }, [fault?.line, fault?.message]);
  return html`<div class="editor" ref=${holder} onKeyDown=${onKeyDown}></div>`;
}
