// Staged edits: validated individually, shown together, saved in one transaction, and undone step by step.
// They are in the URL after the #: a link restores them, and sends nothing.

import { signal } from "@preact/signals";
import { address, ask, download, go, many, poll } from "./lib.js";

export const parsed = (text, fallback) => { try { return text ? JSON.parse(text) : fallback; } catch { return fallback; } };

export const edits = signal(parsed(address.value.edits, []).filter?.((edit) => edit?.id && edit.do) ?? []); // {id, do, key, entity, fields, item, was, kind}
export const preview = signal(null); // {answer, error} of the last preview, save or undo
export const faults = signal({}); // messages by item id, then by field; "" for the whole item
export const busy = signal(false);
export const notice = signal("");

export const editOf = (id) => edits.value.find((edit) => edit.id === id);

// Each step contains the previous edits, or the name of a saved transaction. A step that is undone can be redone.
const past = [], future = [];
export const undoable = signal(false);
const settle = () => { undoable.value = past.length > 0; };

function put(next) {
  edits.value = next;
  preview.value = null;
  go({ edits: next.length ? JSON.stringify(next) : null, preview: null }, { replace: true });
  for (const edit of next) if (!(edit.id in faults.value)) check(edit);
  faults.value = Object.fromEntries(Object.entries(faults.value).filter(([id]) => next.some((edit) => edit.id === id)));
}

function keep(next) {
  past.push({ edits: edits.value });
  future.length = 0;
  settle();
  put(next);
}

export const discard = () => keep([]);
export const unstage = (id) => keep(edits.value.filter((edit) => edit.id !== id));
export function stage(...given) {
  for (const { id } of given) delete faults.value[id];
  keep([...edits.value.filter((edit) => !given.some((each) => each.id === edit.id)), ...given]);
}

const same = (left, right) => JSON.stringify(left ?? null) === JSON.stringify(right ?? null);

export function change(row, name, value) {
  const known = editOf(row.id);
  const fields = { ...(known?.do === "change" ? known.fields : {}), [name]: value };
  const was = row.fields ?? row.stored;
  for (const key of Object.keys(fields)) if (same(fields[key], was[key]) || (typeof was[key] === "number" && fields[key] === String(was[key]))) delete fields[key];
  if (!Object.keys(fields).length) { if (known) unstage(row.id); return; }
  stage({ id: row.id, do: "change", key: row.key, kind: row.kind, fields, was: Object.fromEntries(Object.keys(fields).map((key) => [key, was[key] ?? null])) });
}

const sent = ({ id, kind, ...rest }) => rest;

// The server checks an edit as soon as it is staged; each error is shown in its cell
async function check(edit) {
  const put = (found) => { if (editOf(edit.id) === edit) faults.value = { ...faults.value, [edit.id]: found }; };
  put({});
  const { error } = await ask("edit", { edits: [sent(edit)], check: true }).catch(({ error }) => ({ error }));
  if (!error) return;
  const found = {};
  for (const fault of error.errors ?? []) found[fault.place?.split(".").find((name) => name in (edit.fields ?? {})) ?? ""] = fault.message;
  put(error.errors?.length ? found : { "": error.message });
}

async function attempt(work) {
  busy.value = true;
  try { await work(); } catch (error) { preview.value = { answer: null, error: error.error ?? { message: String(error) } }; }
  finally { busy.value = false; }
}

export const send = (save) => attempt(async () => {
  const answer = await ask("edit", { edits: edits.value.map(sent), save });
  preview.value = { answer, error: null };
  if (!save) return go({ preview: "1" }, { replace: true });
  past.splice(0, past.length, ...past.filter((step) => step.saved), { saved: answer.undo });
  future.length = 0;
  settle();
  edits.value = [];
  faults.value = {};
  go({ edits: null, preview: null, pick: null }, { replace: true });
  poll();
});

// Undo removes a staged edit, or reverts a saved transaction with a new conditional write
async function step(from, to) {
  const last = from.at(-1);
  if (!last || busy.value) return;
  await attempt(async () => {
    if (last.saved) {
      const answer = await ask("undo", { saved: last.saved });
      to.push({ saved: answer.undo });
      preview.value = { answer, error: null };
      poll();
    } else {
      to.push({ edits: edits.value });
      put(last.edits);
    }
    from.pop();
  });
  settle();
}
export const undo = () => step(past, future);
export const redo = () => step(future, past);

// Import and export: the server reads and writes JSON lines and CSV, so that no digit and no type is lost

export const exportItems = (given, form) => attempt(async () => {
  const answer = await ask("take", { ...given, start: null, form });
  download(`${given.entity ?? "items"}.${form}`, answer.text, form === "csv" ? "text/csv" : "application/x-ndjson");
  notice.value = `${many(answer.items, "item")} exported${answer.more ? "; more remain: set a partition or a condition" : ""}`;
});

export const importItems = (file, entity) => attempt(async () => {
  try {
    const answer = await ask("bring", { entity, form: /\.csv$/i.test(file.name) ? "csv" : "jsonl", text: await file.text() });
    const now = Date.now();
    stage(...answer.edits.map((edit, at) => ({ id: `new-${now}-${at}`, ...edit })));
    const notes = [answer.left_out && `${many(answer.left_out, "claim")} skipped: claims are written with their items`, answer.same && `${many(answer.same, "item")} unchanged`];
    notice.value = notes.filter(Boolean).join("; ");
  } catch (error) {
    if (error.error) error.error = { ...error.error, message: `${file.name}: ${error.error.message}` };
    throw error;
  }
});
