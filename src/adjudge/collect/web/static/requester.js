// The requester's pages: tables that can be filtered, sorted and saved, a drawer for a row, links
// copied at a click, settings that can be searched, keys for adjudication.
// Without this script every page is the same, as of when it was loaded, and rows are pages.
(() => {
  "use strict";
  const make = (tag, given = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...children);
    return made;
  };
  const text = (cell) => cell.textContent.replace(/\s+/g, " ").trim();

  // -- tables
  const label = (table) => {
    const heads = [...table.querySelectorAll("thead th, thead td")].map(text);
    if (!heads.length || table.classList.contains("matrix")) return;
    table.classList.add("cards");
    table.setAttribute("role", "table");
    for (const row of table.querySelectorAll("tr")) {
      row.setAttribute("role", "row");
      let first = true;
      [...row.children].forEach((cell, place) => {
        if (cell.closest("thead")) { cell.setAttribute("role", "columnheader"); return; }
        cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
        cell.dataset.label = heads[place] || "";
        if (["", "–"].includes(text(cell)) && !cell.querySelector("input, button")) cell.classList.add("none");
        const check = cell.querySelector("input[type=checkbox]") && !text(cell);
        if (check || (first && !cell.classList.contains("n"))) cell.classList.add("first");
        if (check) cell.classList.add("check");
        else first = false;
      });
    }
  };
  const number = (words) => {
    const found = words.replaceAll(",", "").match(/^[-–+]?\d+(\.\d+)?/);
    return found ? Number(found[0].replace("–", "-")) : null;
  };
  const sort = (table, head) => {
    const at = head.cellIndex;
    const up = head.getAttribute("aria-sort") !== "ascending";
    head.parentNode.querySelectorAll("[aria-sort]").forEach((one) => one.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => text(row.cells[at] || row);
    const compare = (one, two) => {
      const [a, b] = [number(one), number(two)];
      return a !== null && b !== null ? a - b : one.localeCompare(two);
    };
    const rows = [...table.tBodies[0].rows].sort((one, two) => compare(key(one), key(two)) * (up ? 1 : -1));
    table.tBodies[0].append(...rows);
  };
  const save = (table, name) => {
    const guard = (words) => /^[=+\-@\t]/.test(words) && number(words) === null ? `'${words}` : words;
    const line = (row) => [...row.cells].map((cell) => `"${guard(text(cell)).replaceAll('"', '""')}"`).join(",");
    const lines = [...table.rows].filter((row) => !row.hidden).map(line);
    const file = URL.createObjectURL(new Blob([`\ufeff${lines.join("\r\n")}\r\n`], { type: "text/csv" }));
    make("a", { href: file, download: `${name}.csv` }).click();
    URL.revokeObjectURL(file);
  };
  const equip = (region) => {
    const table = region.querySelector("table");
    const by = document.getElementById(region.getAttribute("aria-labelledby"));
    const name = region.getAttribute("aria-label") || (by && text(by)) || "rows";
    for (const head of table.querySelectorAll("thead th")) {
      if (!text(head) || head.querySelector("a, .unseen")) continue;
      head.replaceChildren(make("button", { type: "button", onclick: () => sort(table, head) }, text(head)));
    }
    if (table.tBodies[0].rows.length < 6) return;
    const search = make("input", { type: "search", placeholder: `Filter ${name.toLowerCase()}`, ariaLabel: `Filter ${name.toLowerCase()}` });
    const found = make("span", { className: "soft small", role: "status" });
    search.addEventListener("input", () => {
      const words = search.value.trim().toLowerCase();
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        row.hidden = !text(row).toLowerCase().includes(words);
        shown += !row.hidden;
      }
      found.textContent = words ? `${shown} of ${table.tBodies[0].rows.length}` : "";
    });
    const download = make("button", { type: "button", className: "quiet short", onclick: () => save(table, name) }, "Save as CSV");
    region.before(make("div", { className: "toolbar" }, search, found, download));
  };
  const dress = (within) => {
    within.querySelectorAll(".scroll > table").forEach(label);
    within.querySelectorAll(".scroll[data-filter]").forEach(equip);
  };
  dress(document);
  document.body.addEventListener("htmx:afterSwap", (event) => dress(event.target.isConnected ? event.target : document));

  // -- a list that is kept fresh, but never under the hand that is choosing
  document.body.addEventListener("htmx:beforeRequest", (event) => {
    const list = event.target.closest("[data-live]");
    if (!list || event.target !== list) return;
    if (list.querySelector("input:checked") || list.contains(document.activeElement)) event.preventDefault();
  });

  // -- copying
  if (navigator.clipboard) { // only where the page is safe from others
    for (const button of document.querySelectorAll("button[data-copy]")) {
      button.hidden = false;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.dataset.copy);
        const before = button.firstChild.textContent;
        button.firstChild.textContent = "Copied";
        setTimeout(() => { button.firstChild.textContent = before; }, 2000);
      });
    }
  }

  // -- the drawer: a row without leaving the list
  const toPage = make("a", {}, "Open as a page");
  const close = make("form", { method: "dialog" }, make("button", { className: "quiet short" }, "Close"));
  const inside = make("div", { id: "drawer-body" });
  const drawer = make("dialog", { className: "drawer", ariaLabel: "Details" }, make("div", { className: "row-of" }, toPage, close), inside);
  document.querySelector("main.project")?.append(drawer);
  document.body.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-drawer]");
    if (!link || !drawer.isConnected || drawer.contains(link) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    toPage.href = link.href;
    const row = link.closest("tr");
    if (row) row.dataset.open = "";
    htmx.ajax("GET", link.href, { target: "#drawer-body", select: "#detail", swap: "innerHTML" })
      .then(() => { if (!drawer.open) drawer.showModal(); });
    drawer.addEventListener("close", () => { if (row) delete row.dataset.open; link.focus(); }, { once: true });
  });
  drawer.addEventListener("click", (event) => { if (event.target === drawer) drawer.close(); });

  // -- adjudication: 1 to 9 choose and show what judges said, Enter decides, u takes back, s skips
  const form = document.querySelector("#queue form");
  if (form) {
    const labels = [...form.querySelectorAll("button[data-label]")];
    const decide = form.querySelector("button[type=submit]");
    const look = () => {
      document.getElementById("votes").hidden = false;
      document.getElementById("look").hidden = true;
    };
    const choose = (chosen) => {
      labels.forEach((one) => one.setAttribute("aria-pressed", String(one === chosen)));
      form.elements.label.value = chosen.dataset.label;
      decide.disabled = false;
      look();
    };
    labels.forEach((one) => one.addEventListener("click", () => choose(one)));
    document.getElementById("look").addEventListener("click", look);
    form.addEventListener("submit", () => { decide.disabled = true; });
    document.addEventListener("keydown", (event) => {
      if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
      const place = Number(event.key) - 1;
      if (labels[place]) choose(labels[place]);
      else if (event.key === "Enter" && !event.target.closest("a, summary, button:not([data-label])")) {
        event.preventDefault();
        if (!decide.disabled) form.requestSubmit(decide);
      } else if (event.key === "u") document.getElementById("undo")?.requestSubmit();
      else if (event.key === "s") document.getElementById("later")?.click();
    });
  }

  // On a phone the tabs are one line: that of this page is brought into it.
  for (const one of document.querySelectorAll(".tabs [aria-current]")) {
    one.closest(".tabs").scrollLeft = one.offsetLeft - 40;
  }

  // -- settings that can be searched
  const search = document.getElementById("find-setting");
  if (!search) return;
  search.closest("[hidden]").hidden = false;
  const shown = document.getElementById("settings-found");
  search.addEventListener("input", () => {
    const words = search.value.trim().toLowerCase();
    let found = 0;
    for (const part of document.querySelectorAll("details.settings")) {
      let any = false;
      for (const one of part.querySelectorAll("[data-setting]")) {
        const { name } = one.querySelector("[name]");
        const about = one.querySelector("label, .label").textContent;
        const hit = `${name} ${name.replaceAll("_", " ")} ${about}`.toLowerCase().includes(words);
        one.hidden = !hit;
        any = any || hit;
        found += hit;
      }
      part.hidden = !any;
      if (words) part.open = any;
    }
    shown.textContent = words ? `${found} found` : "";
  });
})();
