// A table of any length: sorted, searched and filtered over all rows, shown a page at a time.

const PAGE = 25;

class PagedTable {
  // columns: {title, value(row), cell(row), text?, minor?, wide?}; found(row): text to search in.
  constructor(host, options) {
    this.options = { size: PAGE, noun: "row", ...options };
    this.rows = options.rows || Uint32Array.from({ length: options.count }, (_, row) => row);
    this.sort = options.sort || { column: 0, down: false };
    this.query = "";
    this.keep = null;
    this.page = 0;
    this.keys = new Map();
    this.build(host);
    this.refresh();
  }

  build(host) {
    const { caption, columns, found, noun } = this.options;
    this.tools = element("div", { class: "tools" });
    if (found) {
      const id = `search-${host.id}`;
      this.search = element("input", {
        id, type: "search", autocomplete: "off", spellcheck: "false",
        oninput: () => this.seek(this.search.value),
      });
      const label = element("label", { for: id }, `Search ${noun}s`);
      this.tools.append(element("div", { class: "search" }, label, this.search));
    }
    this.heads = columns.map((column, at) => this.head(column, at));
    this.body = element("tbody");
    this.table = element(
      "table", { class: "data" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, this.heads)),
      this.body,
    );
    this.said = element("p", { class: "said", role: "status" });
    this.pager = element("div", { class: "pager" });
    const scroller = element(
      "div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, this.table,
    );
    host.replaceChildren(this.tools, this.said, scroller, this.pager);
  }

  head(column, at) {
    const button = element(
      "button", { type: "button", onclick: () => this.sortBy(at) }, column.title,
      element("span", { class: "arrow", "aria-hidden": "true" }),
    );
    const kind = `${column.text ? "text" : "num"}${column.minor ? " minor" : ""}`;
    if (!column.value) return element("th", { scope: "col", class: kind }, column.title);
    return element("th", { scope: "col", class: kind }, button);
  }

  sortBy(at) {
    const same = this.sort.column === at;
    const first = !this.options.columns[at].text; // numbers start with the largest
    this.sort = { column: at, down: same ? !this.sort.down : first };
    this.page = 0;
    this.refresh();
  }

  seek(query) {
    this.query = query.trim().toLowerCase();
    this.page = 0;
    this.refresh();
  }

  filter(keep) {
    this.keep = keep;
    this.page = 0;
    this.refresh();
  }

  // What a column is sorted by: made once for all rows; texts become their places in order.
  keyOf(at) {
    if (this.keys.has(at)) return this.keys.get(at);
    const column = this.options.columns[at];
    const count = this.options.count ?? this.rows.length;
    let keys = Float64Array.from({ length: count }, (_, row) => (column.text ? 0 : column.value(row)));
    if (column.text) {
      const words = Array.from({ length: count }, (_, row) => column.value(row));
      const order = Uint32Array.from({ length: count }, (_, row) => row);
      const collator = new Intl.Collator("en", { numeric: true });
      order.sort((a, b) => collator.compare(words[a], words[b]) || a - b);
      keys = new Float64Array(count);
      order.forEach((row, place) => {
        const before = order[place - 1];
        keys[row] = place && words[before] === words[row] ? keys[before] : place;
      });
    }
    this.keys.set(at, keys);
    return keys;
  }

  refresh() {
    const { found } = this.options;
    let rows = this.rows;
    if (this.keep) rows = rows.filter(this.keep);
    if (this.query && found) rows = rows.filter((row) => found(row).toLowerCase().includes(this.query));
    const keys = this.keyOf(this.sort.column);
    const sign = this.sort.down ? -1 : 1;
    this.view = Uint32Array.from(rows).sort((a, b) => {
      const [x, y] = [keys[a], keys[b]];
      if (x === y) return a - b;
      if (Number.isNaN(x)) return Number.isNaN(y) ? a - b : 1;
      return Number.isNaN(y) ? -1 : sign * (x - y);
    });
    this.show();
  }

  show() {
    const { columns, size, noun, detail } = this.options;
    const pages = Math.max(1, Math.ceil(this.view.length / size));
    this.page = Math.min(Math.max(this.page, 0), pages - 1);
    const begin = this.page * size;
    const shown = Array.from(this.view.subarray(begin, begin + size));
    this.body.replaceChildren(...shown.map((row) => this.line(row, columns, detail)));
    this.heads.forEach((head, at) => {
      const here = this.sort.column === at;
      if (here) head.setAttribute("aria-sort", this.sort.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    const all = counted(this.view.length, noun);
    this.said.textContent = this.view.length
      ? `${all}; ${integers.format(begin + 1)} to ${integers.format(begin + shown.length)} shown`
      : `No ${noun} fits`;
    this.turn(pages);
  }

  line(row, columns, detail) {
    const cells = columns.map((column) => {
      const kind = `${column.text ? "text" : "num"}${column.minor ? " minor" : ""}`;
      return element("td", { class: kind, "data-title": column.title }, column.cell(row));
    });
    const made = element("tr", { "data-row": row }, cells);
    if (detail) {
      const button = element(
        "button",
        { type: "button", class: "open", "aria-expanded": "false", onclick: () => this.toggle(made, row, button) },
        ...cells[0].childNodes,
      );
      cells[0].replaceChildren(button);
    }
    return made;
  }

  toggle(line, row, button) {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) {
      line.nextElementSibling.remove();
      return;
    }
    const { columns, detail } = this.options;
    const cell = element("td", { colspan: columns.length }, detail(row));
    line.after(element("tr", { class: "detail" }, cell));
  }

  turn(pages) {
    const go = (to, words, off) => element(
      "button", { type: "button", disabled: off, onclick: () => { this.page = to; this.show(); } }, words,
    );
    this.pager.replaceChildren();
    if (pages < 2) return;
    this.pager.append(
      go(0, "First", this.page === 0),
      go(this.page - 1, "Back", this.page === 0),
      element("span", {}, `page ${integers.format(this.page + 1)} of ${integers.format(pages)}`),
      go(this.page + 1, "Next", this.page === pages - 1),
      go(pages - 1, "Last", this.page === pages - 1),
    );
  }
}

// Buttons of which one is pressed.
function choices(named, chosen, onchoice) {
  const buttons = named.map(([value, words]) => element(
    "button",
    {
      type: "button", "aria-pressed": String(value === chosen),
      onclick: () => {
        buttons.forEach((other) => other.setAttribute("aria-pressed", "false"));
        buttons[named.findIndex(([other]) => other === value)].setAttribute("aria-pressed", "true");
        onchoice(value);
      },
    },
    words,
  ));
  return element("div", { class: "choices" }, buttons);
}
