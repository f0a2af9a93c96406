// The table of judges.

function judgeNumber(data, name, judge) {
  const values = data[`judge_${name}`];
  return values ? values[judge] : NaN;
}

// A column of a measure from 0 to 1 with its interval.
function measured(data, name, title, minor = false) {
  return {
    title, minor, value: (judge) => judgeNumber(data, name, judge),
    cell: (judge) => element(
      "span", { class: "sure" },
      range(judgeNumber(data, name, judge), judgeNumber(data, `${name}_low`, judge), judgeNumber(data, `${name}_high`, judge)),
      number(judgeNumber(data, name, judge), 2),
    ),
  };
}

function judgeColumns(data) {
  const columns = [
    { title: "judge", text: true, value: (judge) => data.judges[judge], cell: (judge) => judgeLink(data, judge) },
    {
      title: "advice", text: true, value: (judge) => String(data.judgeAdvice[judge]),
      cell: (judge) => badge(data.advice[data.judgeAdvice[judge]]),
    },
    { title: "judgments", value: (judge) => data.judgeCount[judge], cell: (judge) => integers.format(data.judgeCount[judge]) },
    measured(data, "accuracy", "accuracy"),
  ];
  if (data.judge_sensitivity) columns.push(measured(data, "sensitivity", "sensitivity", true), measured(data, "specificity", "specificity", true));
  const plain = (name, title, digits, minor) => {
    if (!data[`judge_${name}`]) return;
    columns.push({
      title, minor, value: (judge) => judgeNumber(data, name, judge),
      cell: (judge) => number(judgeNumber(data, name, judge), digits),
    });
  };
  plain("bits", "bits", 2, false);
  if (!data.judge_sensitivity) plain("bias", "bias", 2, true);
  plain("p_chance", "chance", 2, true);
  plain("gold_accuracy", "right on gold", 2, true);
  return columns;
}

function judgeTable(data) {
  const host = document.getElementById("judge-table");
  const table = new PagedTable(host, {
    caption: "Judges: follow a name to their card", noun: "judge", count: data.judges.length,
    columns: judgeColumns(data), sort: { column: 2, down: true }, size: 15,
    found: (judge) => `${data.judges[judge]} ${data.why[judge]}`,
  });
  const tally = data.advice.map(() => 0);
  data.judgeAdvice.forEach((advice) => { tally[advice] += 1; });
  const named = [[-1, "all"]];
  data.advice.forEach((advice, code) => {
    if (tally[code]) named.push([code, `${advice} ${integers.format(tally[code])}`]);
  });
  table.tools.append(choices(named, -1, (code) => {
    table.filter(code < 0 ? null : (judge) => data.judgeAdvice[judge] === code);
  }));
  return table;
}

// The judgments of each judge, found once: places in the judgments, judge after judge.
function judgmentsByJudge(data) {
  if (data.byJudge) return data.byJudge;
  const begin = new Uint32Array(data.judges.length + 1);
  data.judge.forEach((judge) => { begin[judge + 1] += 1; });
  for (let judge = 0; judge < data.judges.length; judge++) begin[judge + 1] += begin[judge];
  const next = begin.slice();
  const place = new Uint32Array(data.judge.length);
  const item = new Uint32Array(data.judge.length);
  for (let at = 0; at < data.choice.length; at++) {
    for (let one = data.offsets[at]; one < data.offsets[at + 1]; one++) {
      place[next[data.judge[one]]] = one;
      item[next[data.judge[one]]] = at;
      next[data.judge[one]] += 1;
    }
  }
  data.byJudge = { begin, place, item };
  return data.byJudge;
}
