// The requester's pages: tables that become cards on a phone, and settings that can be searched.
// Without this script tables scroll by themselves, and all settings are shown.
(() => {
  "use strict";
  const label = (table) => {
    const heads = [...table.querySelectorAll("thead th, thead td")].map((one) => one.textContent.trim());
    if (!heads.length || table.classList.contains("matrix")) return;
    table.classList.add("cards");
    table.setAttribute("role", "table");
    for (const row of table.querySelectorAll("tr")) {
      row.setAttribute("role", "row");
      [...row.children].forEach((cell, place) => {
        if (cell.closest("thead")) { cell.setAttribute("role", "columnheader"); return; }
        cell.setAttribute("role", cell.tagName === "TH" ? "rowheader" : "cell");
        cell.dataset.label = heads[place] || "";
      });
    }
  };
  const all = (within) => within.querySelectorAll(".scroll > table").forEach(label);
  all(document);
  document.body.addEventListener("htmx:afterSwap", (event) => all(event.target));

  const search = document.getElementById("find-setting");
  if (!search) return;
  search.closest("[hidden]").hidden = false;
  const told = document.getElementById("settings-found");
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    const advanced = search.closest("details");
    if (wanted) advanced.open = true;
    let found = 0;
    for (const part of advanced.querySelectorAll("fieldset.part")) {
      let any = false;
      for (const one of part.querySelectorAll("[data-setting]")) {
        const hit = one.dataset.setting.toLowerCase().includes(wanted);
        one.hidden = !hit;
        any = any || hit;
        found += hit;
      }
      part.hidden = !any;
    }
    told.textContent = wanted ? `${found} found` : "";
  });
})();
