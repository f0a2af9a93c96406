// Points of a drawing that stand for judges: a word at the pointer, and the card behind a click.

function liveFigure(data, name, drawn) {
  const figure = document.getElementById(`figure-${name}`);
  const group = figure && figure.querySelector(".judges_marks");
  if (!group || !drawn) return;
  const tip = document.getElementById("tip");
  const judgeAt = (target) => {
    const place = target.parentNode === group ? Array.prototype.indexOf.call(group.children, target) : -1;
    return place < 0 ? null : drawn[place];
  };
  group.classList.add("live");
  group.addEventListener("pointermove", (event) => {
    const judge = judgeAt(event.target);
    if (judge === null) return;
    const advice = data.advice[data.judgeAdvice[judge]];
    tip.textContent = `${data.judges[judge]}: ${counted(data.judgeCount[judge], "judgment")}, ${advice}`;
    tip.hidden = false;
    const left = Math.min(event.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(8, left)}px`;
    tip.style.top = `${event.pageY + 14}px`;
  });
  group.addEventListener("pointerleave", () => { tip.hidden = true; });
  group.addEventListener("click", (event) => {
    const judge = judgeAt(event.target);
    if (judge !== null) location.hash = `judge-${judge}`;
  });
}
