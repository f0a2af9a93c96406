// A new project: files dropped on the form, a file too large reported before it is sent, and labels
// seen as a judge will while they are typed. Without this script both pages are plain forms.
(() => {
  "use strict";
  const give = document.getElementById("give");
  if (give) {
    const files = give.querySelector("input[type=file]");
    const problem = document.getElementById("too-large");
    const most = Number(give.dataset.most);
    const large = () => {
      const bytes = [...files.files].reduce((sum, file) => sum + file.size, 0);
      problem.hidden = bytes <= most;
      const size = (number) => `${(number / 1e6).toFixed(1)} MB`;
      problem.textContent = problem.hidden ? "" :
        `These files are ${size(bytes)} together; the server takes ${size(most)}. Nothing was sent: leave some out, or pack them (.zip, .gz).`;
      return !problem.hidden;
    };
    files.addEventListener("change", large);
    give.addEventListener("submit", (event) => { if (large()) event.preventDefault(); });
    give.addEventListener("dragover", (event) => { event.preventDefault(); give.classList.add("over"); });
    give.addEventListener("dragleave", () => give.classList.remove("over"));
    give.addEventListener("drop", (event) => {
      event.preventDefault();
      give.classList.remove("over");
      if (event.dataTransfer.files.length) { files.files = event.dataTransfer.files; large(); }
    });
  }

  const unfold = () => {  // a link of the checklist opens the part that it leads to
    const part = location.hash && document.querySelector(`details${location.hash}`);
    if (part) { part.open = true; part.scrollIntoView(); }
  };
  addEventListener("hashchange", unfold);
  unfold();

  const labels = document.getElementById("labels");
  const shown = document.getElementById("shown-labels");
  if (labels && shown) {
    const ordered = document.getElementById("ordered");
    const show = () => {
      const rows = [...labels.querySelectorAll(".label-row")]
        .map((row) => [...row.querySelectorAll("input, select")].map((input) => input.value.trim()))
        .filter(([name]) => name);
      if (ordered.checked) rows.sort((one, two) => Number(one[1]) - Number(two[1]));
      const model = shown.querySelector("label:not(.other)");
      if (!model) return;
      const others = shown.querySelector("label.other");
      const made = rows.map(([name, , colour], at) => {
        const label = model.cloneNode(true);
        label.className = colour ? `c-${colour}` : "";
        label.querySelector("input").value = name;
        const key = label.querySelector("kbd");
        if (key) key.textContent = String(at + 1);
        label.querySelector("span").replaceChildren(...(key && at < 9 ? [key] : []), name);
        return label;
      });
      if (!made.length) return;
      shown.querySelectorAll("label:not(.other)").forEach((label) => label.remove());
      made.forEach((label) => shown.insertBefore(label, others));
    };
    labels.addEventListener("input", show);
    ordered.addEventListener("change", show);
    const add = document.getElementById("add-label");
    add.hidden = false;
    add.addEventListener("click", () => {
      const last = [...labels.querySelectorAll(".label-row")].pop();
      const row = last.cloneNode(true);
      const number = labels.querySelectorAll(".label-row").length + 1;
      for (const field of row.querySelectorAll("input, select")) {
        field.value = "";
        field.id = field.id.replace(/\d+$/, number);
        field.closest("div").querySelector("label").htmlFor = field.id;
      }
      labels.append(row);
      row.querySelector("input").focus();
    });
  }
})();
