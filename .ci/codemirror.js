// What the studio's editor takes of CodeMirror: bundled into one module by .ci/vendored.
export { basicSetup, minimalSetup } from "codemirror";
export { EditorView, keymap } from "@codemirror/view";
export { EditorState, Compartment } from "@codemirror/state";
export { python } from "@codemirror/lang-python";
export { json } from "@codemirror/lang-json";
export { autocompletion, completeFromList } from "@codemirror/autocomplete";
export { setDiagnostics } from "@codemirror/lint";
export { HighlightStyle, syntaxHighlighting, indentUnit } from "@codemirror/language";
export { tags } from "@lezer/highlight";
