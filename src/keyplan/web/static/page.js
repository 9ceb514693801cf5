// The forms of the page: their requests, and the display of responses and of requests to DynamoDB. No libraries.
"use strict";

const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
};

// JSON with colors, and short objects on one line

const WIDTH = 72;

const span = (kind, text) => element("span", { class: kind }, text);

const quoted = (text) => {
  const out = span("s", "");
  for (const part of JSON.stringify(text).split(/(\{[\w.:%]+\})/)) {
    out.append(/^\{[\w.:%]+\}$/.test(part) ? element("i", {}, part) : part);
  }
  return out;
};

const isNested = (value) => value !== null && typeof value === "object" && Object.keys(value).length > 0;

function json(value, indent = 0) {
  const out = document.createDocumentFragment();
  if (typeof value === "string") out.append(quoted(value));
  else if (typeof value === "number") out.append(span("n", String(value)));
  else if (value === null || typeof value === "boolean") out.append(span("w", String(value)));
  else {
    const list = Array.isArray(value);
    const entries = Object.entries(value);
    const [open, close] = list ? "[]" : "{}";
    const short = !entries.some(([, content]) => isNested(content)) && JSON.stringify(value).length + indent <= WIDTH;
    const gap = short ? "" : "\n" + " ".repeat(indent + 2);
    out.append(open);
    entries.forEach(([name, content], number) => {
      out.append(number ? (short ? ", " : ",") : "", gap);
      if (!list) out.append(span("k", JSON.stringify(name)), ": ");
      out.append(json(content, indent + 2));
    });
    out.append(short || !entries.length ? close : "\n" + " ".repeat(indent) + close);
  }
  return out;
}

const shown = (value, label) => element("pre", { tabindex: "0", role: "region", "aria-label": label }, json(value));

for (const pre of document.querySelectorAll("pre[data-json]")) {
  pre.replaceChildren(json(JSON.parse(pre.textContent)));
}

// The arguments in a form

const controls = (form) => [...form.querySelectorAll("input, select, textarea")];

function parsed(control) {
  const text = control.value;
  switch (control.dataset.kind) {
    case "number": return Number(text);
    case "json": return JSON.parse(text);
    case "lines": return text.split("\n").map((line) => line.trim()).filter(Boolean);
    default: return text;
  }
}

function query(form, cursor) {
  const pairs = new URLSearchParams();
  for (const control of controls(form)) {
    if (control.name === "cursor" || control.value.trim() === "") continue;
    const value = control.dataset.kind === "lines" ? parsed(control) : [control.value];
    for (const text of value) pairs.append(control.name, text);
  }
  const own = form.elements.namedItem("cursor");
  const from = cursor ?? own?.value.trim();
  if (from) pairs.set("cursor", from);
  return String(pairs);
}

function body(form) {
  const given = {};
  for (const control of controls(form)) {
    const empty = control.value.trim() === "";
    if (empty && !(control.required && control.dataset.kind === "text")) {
      if (control.required && control.dataset.kind === "lines") given[control.name] = [];
      continue;
    }
    try {
      given[control.name] = parsed(control);
    } catch (error) {
      throw { field: control.name, message: `isn't JSON: ${error.message}` };
    }
  }
  return given;
}

// Errors, next to their fields

function clearFaults(form) {
  for (const fault of form.querySelectorAll(".fault")) fault.remove();
  for (const control of controls(form)) {
    control.removeAttribute("aria-invalid");
    describe(control);
  }
}

function describe(control, fault = null) {
  const ids = [`${control.id}-type`, fault].filter((id) => id && document.getElementById(id));
  if (ids.length) control.setAttribute("aria-describedby", ids.join(" "));
  else control.removeAttribute("aria-describedby");
}

function mark(form, place, message) {
  const control = controls(form).find(
    ({ name }) => place === name || place.startsWith(name + ".") || place.startsWith(name + "[") || name.startsWith(place + "."),
  );
  if (!control) return false;
  const id = `${control.id}-fault`;
  const within = place.slice(control.name.length).replace(/^\./, "");
  control.setAttribute("aria-invalid", "true");
  const line = element("p", {}, within ? `${within}: ${message}` : message);
  const box = document.getElementById(id);
  if (box) box.append(line);
  else control.after(element("div", { class: "fault", id }, line));
  describe(control, id);
  return true;
}

function problem(form, error) {
  const box = element("div", { class: "problem" });
  const field = error.errors ? "" : (error.place ?? "").split(".").pop();
  const told = field && mark(form, field, error.message);
  const placed = error.place && ["KeyFieldError", "ItemTooLarge"].includes(error.code);
  box.append(element("p", {}, told ? `${field} ${error.message}` : placed ? `${error.place}: ${error.message}` : error.message));
  for (const fault of error.errors ?? []) {
    const text = fault.hint ? `${fault.message} (${fault.hint})` : fault.message;
    if (!mark(form, fault.place ?? "", text)) box.append(element("p", {}, fault.place ? `${fault.place}: ${text}` : text));
  }
  if (error.hint) box.append(element("p", { class: "hint" }, error.hint));
  return box;
}

// Requests

function show(form, outcome) {
  const details = form.closest("details");
  const answer = details.querySelector(".answer");
  const failed = outcome.status >= 400;
  const items = outcome.answer?.items;
  const count = items ? `${items.length} item${items.length === 1 ? "" : "s"}` : "";
  const asked = outcome.requests.length;
  const status = element(
    "div", { class: failed ? "status failed" : "status" },
    element("h3", {}, "Answer"),
    element("b", {}, failed ? `${outcome.status} ${outcome.error.code}` : String(outcome.status)),
    element("span", {}, [count, `${asked} request${asked === 1 ? "" : "s"}`, `${outcome.milliseconds} ms`].filter(Boolean).join(" · ")),
  );
  answer.replaceChildren(status);
  answer.hidden = false;
  if (failed) answer.append(problem(form, outcome.error));
  answer.append(
    failed ? element("details", { class: "raw" }, element("summary", {}, "The error as JSON"), shown({ error: outcome.error }, "Error as JSON"))
      : outcome.answer === null ? element("p", { class: "quiet" }, "Done. The write returns no result.")
        : shown(outcome.answer, "Answer as JSON"),
  );
  if (outcome.answer?.cursor) {
    const next = element("button", { type: "button", class: "plain next" }, "Next page");
    next.addEventListener("click", () => ask(form, outcome.answer.cursor));
    answer.append(next);
  }
  showRequests(details, outcome.requests);
}

function showRequests(details, requests) {
  const box = details.querySelector(".requests");
  if (!requests.length) return;
  const title = requests.length === 1 ? "The exact request" : "The exact requests";
  box.replaceChildren(element("h3", {}, title));
  for (const request of requests.slice(0, 8)) {
    box.append(element("p", { class: "operation" }, request.operation), shown(request.parameters, `${request.operation} request`));
  }
  if (requests.length > 8) box.append(element("p", { class: "quiet" }, `and ${requests.length - 8} more`));
}

function formToken() {
  const prefix = `${document.body.dataset.formToken}=`;
  const cookie = document.cookie.split("; ").find((text) => text.startsWith(prefix));
  return cookie && cookie.slice(prefix.length);
}

async function ask(form, cursor) {
  const button = form.querySelector("button");
  const name = form.dataset.pattern;
  clearFaults(form);
  button.disabled = true;
  try {
    const options = { method: form.dataset.method, headers: { accept: "application/json" } };
    let address = `try/${name}`;
    if (form.dataset.method === "GET") {
      const text = query(form, cursor);
      if (text) address += `?${text}`;
    } else {
      options.body = JSON.stringify(body(form));
      options.headers["content-type"] = "application/json";
      const token = formToken();
      if (token) options.headers["x-csrf-token"] = token; // an application's policy can require it
    }
    const response = await fetch(address, options);
    const outcome = await response.json();
    show(form, outcome.error && !outcome.requests ? { ...outcome, status: response.status, requests: [], milliseconds: 0 } : outcome);
    if (form.dataset.method === "POST") suggest();
  } catch (error) {
    const text = error.field ? "A field isn't valid JSON" : "The server doesn't respond. Check whether it is still running.";
    const faults = error.field ? [{ place: error.field, message: error.message }] : [];
    show(form, { status: error.field ? 400 : 503, error: { code: "NotSent", message: text, errors: faults }, requests: [], milliseconds: 0 });
  } finally {
    button.disabled = false;
    form.querySelector("[aria-invalid]")?.focus();
  }
}

function line(form) {
  const text = form.dataset.method === "GET" ? query(form) : "";
  form.querySelector(".line").textContent = `${form.dataset.method} /api/${form.dataset.pattern}${text ? "?" + text : ""}`;
}

// Initial values from stored items

async function suggest() {
  let values;
  try {
    const response = await fetch("examples.json");
    if (!response.ok) return;
    values = await response.json();
  } catch {
    return;
  }
  for (const [name, texts] of Object.entries(values)) {
    const id = `values-${name}`;
    document.getElementById(id)?.remove();
    document.body.append(element("datalist", { id }, ...texts.map((value) => element("option", { value }))));
  }
  for (const form of document.querySelectorAll('form[data-method="GET"]')) {
    for (const control of controls(form)) {
      const first = values[control.name]?.[0];
      if (!first || !control.required || control.value || control.tagName === "SELECT") continue;
      control.value = control.dataset.kind === "lines" ? values[control.name].slice(0, 3).join("\n") : first;
    }
    line(form);
  }
}

function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus({ preventScroll: true });
  }
}

for (const form of document.querySelectorAll("form")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    line(form);
    ask(form);
  });
  form.addEventListener("input", () => line(form));
}
addEventListener("hashchange", openTarget);
openTarget();
suggest();
