// The card of a judge: what to do about them and why, rates, confusion, history and judgments.

function openCard(data, judge, order) {
  const dialog = document.getElementById("card");
  const advice = data.advice[data.judgeAdvice[judge]];
  const place = order.indexOf(judge);
  const step = (to, words) => element(
    "a", { class: "button", href: to === undefined ? null : `#judge-${to}`, "aria-disabled": to === undefined ? "true" : null }, words,
  );
  const head = element(
    "header", {},
    element("h2", { id: "card-name", tabindex: "-1" }, data.judges[judge]), badge(advice),
    element("nav", { "aria-label": "Judges" }, step(order[place - 1], "Previous"), step(order[place + 1], "Next"),
      element("button", { type: "button", onclick: () => dialog.close() }, "Close")),
  );
  dialog.replaceChildren(...[
    head,
    element("p", { class: "why" }, `${sentence(advice)} ${data.why[judge]}.`),
    element("div", { class: "columns" },
      element("div", {}, rateList(data, judge), data.labels.length > 3 ? labelShares(data, judge) : null),
      element("div", {}, confusionTable(data, judge), mistakes(data, judge),
        data.labels.length > 3 ? null : labelShares(data, judge))),
    history(data, judge),
    company(data, judge),
    work(data, judge),
  ].filter((part) => part !== null));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  dialog.querySelector("h2").focus();
}

function sentence(advice) {
  return {
    keep: "Keep:", train: "Train:", drop: "Drop:", watch: "Watch:",
  }[advice];
}

const RATES = [
  ["accuracy", "accuracy", "share of labels that name the truth"],
  ["sensitivity", "sensitivity", "right on what is relevant"],
  ["specificity", "specificity", "right on what is not"],
  ["skill", "skill", "0 is chance, 1 is perfect"],
  ["gold", "right on gold", "measured, not estimated"],
];

function rateList(data, judge) {
  const rows = [];
  for (const [name, title, meaning] of RATES) {
    const from = name === "gold" ? "gold_accuracy" : name;
    const value = judgeNumber(data, from, judge);
    if (!Number.isFinite(value)) continue;
    const [low, high] = [judgeNumber(data, `${name}_low`, judge), judgeNumber(data, `${name}_high`, judge)];
    rows.push(element(
      "tr", {}, element("th", { scope: "row" }, title, element("small", {}, meaning)),
      element("td", {}, range(value, low, high)),
      element("td", { class: "num" }, number(value, 2), element("small", {}, between(low, high))),
    ));
  }
  const single = [
    ["bits", "bits per judgment", 2], ["bias", "bias, grades", 2],
    ["p_chance", "probability of no better than chance", 2], ["seconds", "seconds a judgment (median)", 0],
    ["gold_judgments", "judgments of gold items", 0],
  ];
  for (const [name, title, digits] of single) {
    const value = judgeNumber(data, name, judge);
    if (!Number.isFinite(value)) continue;
    const low = judgeNumber(data, `${name}_low`, judge);
    rows.push(element(
      "tr", {}, element("th", { scope: "row", colspan: "2" }, title),
      element("td", { class: "num" }, number(value, digits),
        Number.isFinite(low) ? element("small", {}, between(low, judgeNumber(data, `${name}_high`, judge))) : null),
    ));
  }
  return element(
    "table", { class: "rates" },
    element("caption", {}, `${counted(data.judgeCount[judge], "judgment")}; intervals are 90%`),
    element("tbody", {}, rows),
  );
}

function confusionTable(data, judge) {
  if (!data.confusion_mean || data.labels.length > 12) return null;
  const [truths, labels] = [data.truths.length, data.labels.length];
  const rows = data.truths.map((truth, row) => {
    const cells = data.labels.map((label, column) => {
      const at = (judge * truths + row) * labels + column;
      const value = share(data.confusion_mean, at);
      return element(
        "td", { "--share": Number.isFinite(value) ? value : 0, class: data.truthOf[column] === row ? "right" : null },
        percent(value),
        element("small", {}, `${percent(share(data.confusion_low, at)).replace("%", "")}–${percent(share(data.confusion_high, at))}`),
      );
    });
    const count = data.confusionRows[judge * truths + row];
    return element(
      "tr", {}, element("th", { scope: "row" }, truth, element("small", {}, `about ${integers.format(Math.round(count))}`)), cells,
    );
  });
  return element(
    "table", { class: "confusion" },
    element("caption", {}, "What they say (across) of what is true (down)"),
    element("thead", {}, element("tr", {}, element("td", {}), data.labels.map((label) => element("th", { scope: "col" }, label)))),
    element("tbody", {}, rows),
  );
}

// Their most common mistakes, next to how often all judges make them.
function mistakes(data, judge) {
  if (!data.confusion_mean) return null;
  const [truths, labels] = [data.truths.length, data.labels.length];
  const found = [];
  for (let row = 0; row < truths; row++) {
    const count = data.confusionRows[judge * truths + row];
    for (let column = 0; column < labels; column++) {
      if (data.truthOf[column] === row) continue;
      const rate = share(data.confusion_mean, (judge * truths + row) * labels + column);
      found.push({ row, column, rate, times: rate * count });
    }
  }
  found.sort((a, b) => b.times - a.times);
  const lines = found.slice(0, 3).filter((one) => one.times >= 0.5).map((one) => element(
    "li", {}, `${data.truths[one.row]} called ${data.labels[one.column]} in ${percent(one.rate)}; `,
    element("span", { class: "soft" }, `the average judge in ${percent(share(data.population, one.row * labels + one.column))}`),
  ));
  if (!lines.length) return null;
  return element("div", {}, element("h3", {}, "What to teach them"), element("ul", {}, lines));
}

function labelShares(data, judge) {
  if (!data.hasJudgments) return null;
  const { begin, place } = judgmentsByJudge(data);
  const [mine, all] = [new Float64Array(data.labels.length), new Float64Array(data.labels.length)];
  for (let at = begin[judge]; at < begin[judge + 1]; at++) mine[data.label[place[at]]] += 1;
  data.label.forEach((label) => { all[label] += 1; });
  const total = begin[judge + 1] - begin[judge];
  if (!total || data.labels.length > 12) return null;
  const rows = data.labels.map((label, code) => element(
    "tr", {}, element("th", { scope: "row" }, element("span", { class: "label" }, label)),
    element("td", {}, element("span", { class: "track", "aria-hidden": "true" }, element("i", { "--wide": mine[code] / total }))),
    element("td", { class: "num" }, percent(mine[code] / total)),
    element("td", { class: "num soft" }, percent(all[code] / data.label.length)),
  ));
  return element(
    "table", { class: "rates" }, element("caption", {}, "Labels they give"),
    element("thead", {}, element("tr", {}, element("th", { scope: "col", colspan: "2" }, "label"), element("th", { scope: "col", class: "num" }, "judge"), element("th", { scope: "col", class: "num" }, "all"))),
    element("tbody", {}, rows),
  );
}

// How they did over time, stretch by stretch.
function history(data, judge) {
  if (!data.historyJudge) return null;
  const rows = [];
  data.historyJudge.forEach((who, at) => { if (who === judge) rows.push(at); });
  const changed = data.changed.find(([who]) => who === judge);
  if (!rows.length) return null;
  const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ");
  const lines = rows.map((at) => {
    const [value, low, high] = [data.history_accuracy, data.history_low, data.history_high].map((values) => share(values, at));
    return element(
      "tr", {}, element("th", { scope: "row" }, day(data.history_begin[at])),
      element("td", { class: "num" }, integers.format(data.historyCount[at])),
      element("td", {}, range(value, low, high)), element("td", { class: "num" }, number(value, 2)),
    );
  });
  return element(
    "section", {}, element("h3", {}, "History"),
    changed ? element("p", { class: "why" }, `${changed[1].slice(0, 1).toUpperCase()}${changed[1].slice(1)}.`) : null,
    element("table", { class: "rates" },
      element("caption", {}, "Accuracy of their judgments in the order of time, with 90% intervals"),
      element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "from (UTC)"), element("th", { scope: "col", class: "num" }, "judgments"), element("th", { scope: "col", colspan: "2" }, "accuracy"))),
      element("tbody", {}, lines)),
  );
}

function company(data, judge) {
  const found = data.pairs.filter(([a, b]) => a === judge || b === judge);
  if (!found.length) return null;
  const lines = found.map(([a, b, words]) => element("li", {}, judgeLink(data, a === judge ? b : a), `: ${words}`));
  return element("section", {}, element("h3", {}, "Agrees more than the model explains"), element("ul", {}, lines));
}

// Their judgments, those furthest from the consensus first.
function work(data, judge) {
  if (!data.hasJudgments) return null;
  const { begin, place, item } = judgmentsByJudge(data);
  const start = begin[judge];
  const count = begin[judge + 1] - start;
  const host = element("div", { id: "card-work" });
  const section = element("section", {}, element("h3", {}, "Their judgments"), host);
  const truths = data.truths.length;
  const agreed = (row) => {
    const truth = data.truthOf[data.label[place[start + row]]];
    return truth < 0 ? NaN : share(data.posterior, item[start + row] * truths + truth);
  };
  const named = (row) => itemName(data, item[start + row]);
  const given = (row) => data.labels[data.label[place[start + row]]];
  const label = (row) => data.truths[data.choice[item[start + row]]];
  new PagedTable(host, {
    caption: "Their judgments, furthest from the consensus first", noun: "judgment", count, size: 10,
    sort: { column: 3, down: false },
    columns: [
      { title: "item", text: true, value: named, cell: named },
      { title: "they said", text: true, value: given, cell: (row) => element("span", { class: "label" }, given(row)) },
      { title: "consensus", text: true, value: label, cell: (row) => element("span", { class: "label" }, label(row)) },
      { title: "probability they are right", value: agreed, cell: (row) => number(agreed(row), 2) },
    ],
  });
  return section;
}
