// Optional improvements, because pages work without scripts: tag suggestions, live preview, light or dark mode.
"use strict";

document.documentElement.classList.add("js");

const later = (milliseconds, action) => {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => action(...given), milliseconds);
  };
};

// Light or dark mode, stored for a year

for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  button.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
  });
}

// The menu closes on Escape, or a click elsewhere

for (const menu of document.querySelectorAll("details.menu")) {
  document.addEventListener("click", (event) => {
    if (!menu.contains(event.target)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && menu.open) {
      menu.open = false;
      menu.querySelector("summary").focus();
    }
  });
}

// The error is read first

document.querySelector("[data-focus]")?.focus();

// Tag suggestions for the last word, below the input

let boxes = 0;

for (const box of document.querySelectorAll("[data-suggest]")) {
  const list = document.createElement("div");
  list.className = "suggestions";
  list.id = `suggestions-${(boxes += 1)}`;
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggested tags");
  list.hidden = true;
  box.parentElement.classList.add("suggests");
  box.after(list);
  for (const [name, value] of Object.entries({
    role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id,
  })) box.setAttribute(name, value);

  let chosen = -1;
  let actions = [];
  let asked = 0;
  const separator = box.dataset.separator ?? " ";
  const options = () => [...list.children];
  const lastWord = () => box.value.split(/[\s,]+/).at(-1) ?? "";

  const close = () => {
    list.hidden = true;
    chosen = -1;
    box.setAttribute("aria-expanded", "false");
    box.removeAttribute("aria-activedescendant");
  };

  const choose = (number) => {
    chosen = number;
    options().forEach((option, place) => option.setAttribute("aria-selected", String(place === number)));
    if (number < 0) box.removeAttribute("aria-activedescendant");
    else box.setAttribute("aria-activedescendant", options()[number].id);
  };

  const take = (tag) => {
    box.value = box.value.slice(0, box.value.length - lastWord().length) + tag + separator;
    close();
    box.focus();
    box.dispatchEvent(new Event("input", { bubbles: true }));
  };

  const show = (tags, posts = []) => {
    const choices = [...posts.map((post) => [post.title, () => { location.href = post.path; }]),
      ...tags.map((tag) => [box.dataset.suggestPosts === undefined ? tag : `#${tag}`, () => take(tag)])];
    actions = choices.map(([, action]) => action);
    list.replaceChildren(...choices.map(([label, action], number) => {
      const option = document.createElement("div");
      option.id = `${list.id}-${number}`;
      option.setAttribute("role", "option");
      option.setAttribute("aria-selected", "false");
      option.textContent = label;
      option.addEventListener("pointerdown", (event) => {
        event.preventDefault();
        action();
      });
      return option;
    }));
    chosen = -1;
    list.hidden = choices.length === 0;
    box.setAttribute("aria-expanded", String(!list.hidden));
    box.removeAttribute("aria-activedescendant");
  };

  const ask = later(120, async () => {
    const word = lastWord();
    const mine = (asked += 1);
    if (!word) return close();
    try {
      const words = box.dataset.suggestPosts === undefined ? "" : `&posts=${encodeURIComponent(box.value)}`;
      const answer = await fetch(`${box.dataset.suggest}?prefix=${encodeURIComponent(word)}${words}`);
      const suggested = answer.ok ? await answer.json() : { tags: [], posts: [] };
      if (mine === asked && document.activeElement === box) show(suggested.tags.filter((tag) => tag !== word), suggested.posts);
    } catch {
      close();
    }
  });

  box.addEventListener("input", ask);
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (list.hidden) return;
    const count = options().length;
    if (event.key === "ArrowDown") choose((chosen + 1) % count);
    else if (event.key === "ArrowUp") choose(chosen <= 0 ? count - 1 : chosen - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Enter" && chosen >= 0) actions[chosen]();
    else return;
    event.preventDefault();
  });
}

// Upload chosen, dropped or pasted pictures, and insert them at the cursor

const picker = document.querySelector("[data-pictures]");

if (picker) {
  const text = picker.form.elements.content;
  const field = picker.form.elements[picker.dataset.into]; // receives only the URL
  const status = document.querySelector("[data-picture-status]");
  const send = async (file) => {
    status.textContent = `Uploading ${file.name}…`;
    const answer = await fetch(picker.dataset.pictures, {
      method: "POST", body: file, headers: { "X-CSRF-Token": picker.form.elements.csrf.value },
    }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (!answer?.ok || !told) {
      status.textContent = told?.error ?? "The upload failed.";
      return;
    }
    if (field) {
      field.value = told.url;
      status.textContent = "Added. Save to show it.";
      return;
    }
    const name = file.name.replace(/\.\w+$/, "").replace(/[[\]]/g, "");
    text.setRangeText(`\n\n![${name}](${told.url})\n\n`, text.selectionEnd, text.selectionEnd, "end");
    text.dispatchEvent(new Event("input", { bubbles: true }));
    status.textContent = "Added. Describe it between [ and ].";
  };
  const pictures = (list) => [...(list ?? [])].filter((file) => file.type.startsWith("image/"));
  const take = async (files) => {
    for (const file of files) await send(file);
  };
  picker.addEventListener("change", async () => {
    await take(pictures(picker.files));
    picker.value = "";
  });
  for (const [name, files] of [["drop", (event) => event.dataTransfer?.files], ["paste", (event) => event.clipboardData?.files]]) {
    text?.addEventListener(name, (event) => {
      const dropped = pictures(files(event));
      if (dropped.length === 0) return;
      event.preventDefault();
      take(dropped);
    });
  }
}

// The preview, updated while typing

const writing = document.querySelector("form[data-preview]");

if (writing) {
  const shown = document.querySelector("[data-preview-body]");
  const title = document.querySelector("[data-preview-title]");
  let asked = 0;
  const preview = later(250, async () => {
    const mine = (asked += 1);
    title.textContent = writing.elements.title.value || "Untitled";
    const answer = await fetch(writing.dataset.preview, {
      method: "POST",
      body: new URLSearchParams({
        csrf: writing.elements.csrf.value, title: writing.elements.title.value, content: writing.elements.content.value,
      }),
      headers: { Accept: "text/html" },
    }).catch(() => null);
    if (mine !== asked) return; // there is newer input
    if (answer?.ok) shown.innerHTML = await answer.text(); // sanitized by the server
    else if (answer?.status === 429) setTimeout(() => mine === asked && preview(), 3000);
  });
  writing.addEventListener("input", preview);
  const { content } = writing.elements;
  let changed = content.value !== content.defaultValue; // typed before this script loaded, or restored by the browser
  if (changed) preview();
  writing.addEventListener("input", () => { changed = true; });
  writing.addEventListener("submit", () => { changed = false; });
  addEventListener("beforeunload", (event) => { if (changed) event.preventDefault(); });
}
