// Start: unpack, make the tables, and open what the address asks for.

// On a narrow screen all sections but the first are folded; a link to one opens it, and so does print.
function foldSections() {
  const folds = [...document.querySelectorAll("details.fold")];
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    const fold = target && (target.querySelector("details.fold") || target.closest("details.fold"));
    if (fold && !fold.open) {
      fold.open = true;
      target.scrollIntoView();
    }
  };
  if (matchMedia("(max-width: 46rem)").matches) folds.forEach((fold) => { fold.open = false; });
  window.addEventListener("beforeprint", () => folds.forEach((fold) => { fold.open = true; }));
  window.addEventListener("hashchange", open);
  open();
}

async function start() {
  foldSections();
  const data = await unpacked(document.getElementById("data").textContent);
  document.getElementById("data").remove(); // its letters are of no use any more
  consensusTable(data);
  nextTable(data);
  disagreementTable(data);
  topicSection(data);
  const table = judgeTable(data);
  liveFigure(data, "sensitivity-specificity", data.drawnRates);
  const dialog = document.getElementById("card");
  dialog.addEventListener("close", () => {
    const here = location.pathname + location.search;
    if (location.hash.startsWith("#judge-")) window.history.replaceState(null, "", here);
  });
  const follow = () => {
    const [, kind, at] = location.hash.match(/^#(judge|topic)-(\d+)$/) || [];
    if (kind === "judge" && Number(at) < data.judges.length) openCard(data, Number(at), Array.from(table.view));
    if (kind === "topic" && data.topics && Number(at) < data.topics.length) {
      showTopic(data, Number(at));
      document.getElementById("rank-table").scrollIntoView({ block: "nearest" });
    }
  };
  window.addEventListener("hashchange", follow);
  follow();
  document.documentElement.dataset.ready = "yes";
}

start().catch((fault) => {
  const said = document.getElementById("fault");
  said.textContent = `The tables cannot be shown in this browser (${fault.message}). A browser of 2023 or later is needed.`;
  said.hidden = false;
  throw fault;
});
