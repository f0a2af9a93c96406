// Tables of items: the consensus, what to judge next, where judges disagree, topics and ranks.

function probability(data, item) {
  return share(data.posterior, item * data.truths.length + data.choice[item]);
}

// The label of an item with how sure it is, as a bar.
function sureness(data, item) {
  const value = probability(data, item);
  return element(
    "span", { class: "sure" },
    element("span", { class: "track", "aria-hidden": "true" }, element("i", { "--wide": value })),
    number(value, 2),
  );
}

function judgmentsOf(data, item) {
  return data.offsets[item + 1] - data.offsets[item];
}

// The votes of an item, label by label: how many, and who.
function votes(data, item, named = 40) {
  const who = data.labels.map(() => []);
  if (data.hasJudgments) {
    for (let at = data.offsets[item]; at < data.offsets[item + 1]; at++) who[data.label[at]].push(data.judge[at]);
  }
  const parts = countVotes(data, item).map(([label, count]) => element(
    "li", {},
    element("span", { class: "label" }, data.labels[label]),
    element("span", { class: "times" }, ` × ${count} `),
    who[label].slice(0, named).flatMap((judge) => [judgeLink(data, judge), " "]),
    who[label].length > named ? `and ${who[label].length - named} more` : "",
  ));
  return parts.length ? element("ul", { class: "votes" }, parts) : element("span", {}, "no judgment");
}

function countVotes(data, item) {
  const labels = data.labels.length;
  return data.labels.map((_, label) => [label, data.votes[item * labels + label]]).filter(([, count]) => count).reverse();
}

// How many votes each label has, without names.
function voteCounts(data, item) {
  return countVotes(data, item).flatMap(([label, count]) => [
    element("span", { class: "label" }, data.labels[label]), element("span", { class: "times" }, ` × ${count} `),
  ]);
}

// What is known of one item: each truth's probability, the votes, the gold, what the file says.
function itemDetail(data, item) {
  const truths = data.truths.length;
  const bars = data.truths.map((truth, code) => {
    const value = share(data.posterior, item * truths + code);
    return [value, element(
      "li", {}, element("span", { class: "label" }, truth),
      element("span", { class: "track", "aria-hidden": "true" }, element("i", { "--wide": value })),
      element("span", { class: "num" }, number(value, 3)),
    )];
  });
  if (truths > 12) bars.sort((a, b) => b[0] - a[0]).splice(12);
  const facts = [];
  for (const [name, values] of Object.entries(data.fields || {})) {
    if (values[item]) facts.push(element("dt", {}, name), element("dd", {}, values[item]));
  }
  if (data.gold && data.gold[item] >= 0) {
    facts.push(element("dt", {}, "gold"), element("dd", {}, data.truths[data.gold[item]]));
  }
  return element(
    "div", { class: "item" },
    element("div", {}, element("h4", {}, "Probability"), element("ul", { class: "bars" }, bars.map(([, bar]) => bar))),
    element("div", {}, element("h4", {}, "Votes"), votes(data, item)),
    facts.length ? element("dl", { class: "facts" }, facts) : null,
  );
}

function itemColumns(data) {
  const name = data.documents ? "document" : "item";
  const named = (item) => (data.documents ? data.documents[item] : data.items[item]);
  const columns = [{ title: name, text: true, value: named, cell: named }];
  if (data.topics) {
    const topic = (item) => data.topics[data.topic[item]];
    columns.push({ title: "topic", text: true, value: topic, cell: topic });
  }
  columns.push(
    {
      title: "label", text: true, value: (item) => data.truths[data.choice[item]],
      cell: (item) => element("span", { class: "label" }, data.truths[data.choice[item]]),
    },
    { title: "probability", value: (item) => probability(data, item), cell: (item) => sureness(data, item) },
    { title: "judgments", minor: true, value: (item) => judgmentsOf(data, item), cell: (item) => integers.format(judgmentsOf(data, item)) },
    { title: "vote", text: true, minor: true, value: (item) => data.truths[data.vote[item]] ?? "", cell: (item) => votedCell(data, item) },
  );
  if (data.gold) columns.push(goldColumn(data));
  columns.push(
    { title: data.topics ? "rank in topic" : "rank", minor: true, value: (item) => -data.rank[item], cell: (item) => integers.format(data.rank[item]) },
    { title: "gain, bits", minor: true, value: (item) => data.gain[item], cell: (item) => small(data.gain[item]) },
  );
  return columns;
}

function votedCell(data, item) {
  const vote = data.vote[item];
  if (vote < 0) return element("span", { class: "soft" }, "none");
  const differs = vote !== data.choice[item];
  return element("span", { class: differs ? "label differs" : "label" }, data.truths[vote]);
}

function goldColumn(data) {
  const value = (item) => (data.gold[item] < 0 ? "" : data.truths[data.gold[item]]);
  return { title: "gold", text: true, minor: true, value, cell: value };
}

function searched(data) {
  return (item) => `${itemName(data, item)} ${data.truths[data.choice[item]]}`;
}

function consensusTable(data) {
  const host = document.getElementById("consensus-table");
  const count = data.choice.length;
  const columns = itemColumns(data);
  const sort = { column: columns.findIndex((column) => column.title === "probability"), down: false };
  const table = new PagedTable(host, {
    caption: "Labels: the label of each item", noun: "item", count, columns, sort, size: 15,
    found: searched(data), detail: (item) => itemDetail(data, item),
  });
  const named = [[-1, "all"], ...data.truths.slice(0, 8).map((truth, code) => [code, truth])];
  table.tools.append(choices(named, -1, (code) => {
    table.filter(code < 0 ? null : (item) => data.choice[item] === code);
  }));
}

function nextTable(data) {
  const host = document.getElementById("next-table");
  if (!host) return;
  const columns = itemColumns(data);
  new PagedTable(host, {
    caption: "What to judge next: items by what one more judgment would add", noun: "item",
    count: data.choice.length, columns, size: 10, sort: { column: columns.length - 1, down: true },
    detail: (item) => itemDetail(data, item),
  });
}

function disagreementTable(data) {
  const host = document.getElementById("disagreement-table");
  const shown = itemColumns(data).slice(0, data.topics ? 4 : 3);
  // On a phone only the item, its label and its votes have room.
  const columns = shown.map((column, at) => ({ ...column, minor: at > 0 && column.title !== "label" }));
  const apart = (item) => {
    const count = judgmentsOf(data, item);
    return Math.round(share(data.disagreement, item) * count * (count - 1) / 2);
  };
  columns.push(
    { title: "disagreement", minor: true, value: (item) => share(data.disagreement, item), cell: (item) => number(share(data.disagreement, item), 2) },
    { title: "pairs apart", minor: true, value: apart, cell: (item) => integers.format(apart(item)) },
    { title: "votes", text: true, cell: (item) => voteCounts(data, item) },
  );
  const count = data.choice.length;
  const split = (item) => data.disagreement[item] !== UNKNOWN && data.disagreement[item] > 0;
  const against = (item) => data.vote[item] >= 0 && data.vote[item] !== data.choice[item];
  const table = new PagedTable(host, {
    caption: "Items whose judges disagree, with their votes", noun: "item", count, columns, size: 10,
    sort: { column: columns.length - 2, down: true }, found: searched(data),
    detail: (item) => itemDetail(data, item),
  });
  const named = [["split", "any disagreement"], ["against", "consensus against the vote"]];
  table.tools.append(choices(named, "split", (which) => table.filter(which === "split" ? split : against)));
  table.filter(split);
}

function topicSection(data) {
  const host = document.getElementById("topic-table");
  if (!host || !data.topics) return;
  const size = new Uint32Array(data.topics.length);
  data.topic.forEach((topic) => { size[topic] += 1; });
  const last = data.truths.length - 1;
  const columns = [
    { title: "topic", text: true, value: (topic) => data.topics[topic], cell: (topic) => element("a", { href: `#topic-${topic}` }, data.topics[topic]) },
    { title: "items", value: (topic) => size[topic], cell: (topic) => integers.format(size[topic]) },
  ];
  if (data.prevalence) {
    const at = (values, topic) => (values ? share(values, topic * data.truths.length + last) : NaN);
    columns.push({
      title: `share of ${data.truths[last]}`, value: (topic) => at(data.prevalence, topic),
      cell: (topic) => {
        const [value, low, high] = [data.prevalence, data.prevalence_low, data.prevalence_high].map((values) => at(values, topic));
        return element("span", { class: "sure" }, range(value, low, high), number(value, 2));
      },
    });
  }
  new PagedTable(host, {
    caption: "Topics", noun: "topic", count: data.topics.length, columns, size: 10,
    found: (topic) => data.topics[topic],
  });
  showTopic(data, 0);
}

// The ranking within one topic.
function showTopic(data, topic) {
  const host = document.getElementById("rank-table");
  if (!host || !data.topics || !(topic in data.topics)) return;
  const rows = Uint32Array.from(data.topic.keys()).filter((item) => data.topic[item] === topic);
  const columns = itemColumns(data).filter((column) => !["topic", "gain, bits"].includes(column.title));
  const place = columns.findIndex((column) => column.title === "rank in topic");
  columns.unshift({ ...columns.splice(place, 1)[0], minor: false });
  columns[1] = { ...columns[1], title: columns[1].title };
  new PagedTable(host, {
    caption: `Ranking in topic ${data.topics[topic]}`, noun: "item", rows, count: data.choice.length,
    columns, size: 15, sort: { column: 0, down: true },
  });
}
