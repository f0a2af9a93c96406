// The judge's page: one key a label, answers kept in the browser until they are stored, and sent
// again when the connection comes back. Without this script the page is a plain form.
(() => {
  "use strict";
  const form = document.getElementById("page");
  if (!form) return;
  const rows = [...form.querySelectorAll(".result")];
  const training = form.dataset.kind === "training";
  const store = `adjudge:${form.dataset.page}`;
  const status = document.getElementById("status");
  const offline = document.getElementById("offline");
  const bar = document.getElementById("answered");
  let here = -1;
  let since = performance.now();

  const radios = (row) => [...row.querySelectorAll("input[name^=label-]")];
  const chosen = (row) => row.querySelector("input[name^=label-]:checked");
  // Further questions of a row: a scale of its own, or words.
  const further = (row) => [...row.querySelectorAll("[data-question]")];
  const said = (part) => {
    const words = part.querySelector("textarea");
    return words ? Boolean(words.value.trim()) : Boolean(part.querySelector("input:checked"));
  };
  const unsaid = (row) => {
    const label = chosen(row);
    if (!label || label.dataset.other) return [];
    return further(row).filter((part) => !said(part));
  };
  const complete = (row) => Boolean(chosen(row)) && !unsaid(row).some((part) => "needed" in part.dataset);
  const locked = (row) => row.dataset.locked === "yes";
  const say = (text) => { status.textContent = text; };

  // --- Drafts: what was answered outlives a reload, a crash and a lost connection. ---
  const read = () => {
    try { return JSON.parse(localStorage.getItem(store)) || {}; } catch { return {}; }
  };
  const keep = () => {
    const draft = {};
    for (const row of rows) {
      const answer = chosen(row);
      const remark = row.querySelector("textarea[name^=comment-]");
      const seconds = row.querySelector("input[data-seconds]");
      const more = {};
      for (const field of row.querySelectorAll("[data-question] input:checked, [data-question] textarea")) {
        if (field.value) more[field.name] = field.value;
      }
      if (answer || (remark && remark.value) || Object.keys(more).length) {
        draft[row.dataset.row] = {
          label: answer ? answer.value : "",
          remark: remark ? remark.value : "",
          seconds: seconds ? seconds.value : "",
          more,
        };
      }
    }
    try { localStorage.setItem(store, JSON.stringify(draft)); } catch { /* private mode */ }
    if (!training) {
      clearTimeout(saving);
      saving = setTimeout(save, 4000);
    }
  };
  // Also at the server, so that another device shows them; if it fails, the browser has them still.
  let saving = 0;
  const save = () => {
    clearTimeout(saving);
    saving = 0;
    const body = new URLSearchParams(new FormData(form));
    fetch(`${form.getAttribute("action")}/draft`, { method: "POST", body, keepalive: true })
      .then((answer) => { if (answer.headers.get("X-Page") === "answered") document.getElementById("sent").hidden = false; })
      .catch(() => {});
  };
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "hidden" && saving) save();
  });
  const restore = () => {
    const draft = read();
    for (const row of rows) {
      const held = draft[row.dataset.row];
      if (!held || locked(row)) continue;
      if (!training) {
        for (const radio of radios(row)) radio.checked = radio.value === held.label || radio.checked;
      }
      for (const [name, value] of Object.entries(held.more || {})) {
        for (const field of row.querySelectorAll(`[name="${CSS.escape(name)}"]`)) {
          if (field.type === "radio") field.checked = field.value === value || field.checked;
          else if (!field.value) field.value = value;
        }
      }
      const remark = row.querySelector("textarea[name^=comment-]");
      if (remark && held.remark && !remark.value) {
        remark.value = held.remark;
        remark.closest("details").open = true;
      }
      const seconds = row.querySelector("input[data-seconds]");
      if (seconds) seconds.value = held.seconds;
    }
  };
  const forgetOthers = () => {
    try {
      for (const key of Object.keys(localStorage)) {
        if (key.startsWith("adjudge:") && key !== store) localStorage.removeItem(key);
      }
    } catch { /* private mode */ }
  };

  // --- Where we are ---
  const go = (place, focus = true) => {
    if (place < 0 || place >= rows.length) return;
    if (here >= 0) rows[here].classList.remove("here");
    if (place !== here) since = performance.now();
    here = place;
    const row = rows[here];
    row.classList.add("here");
    if (!focus) return;
    const target = locked(row) ? row : chosen(row) || radios(row)[0];
    target.focus({ preventScroll: true });
    row.scrollIntoView({ block: "center" });
  };
  const next = (from) => {
    for (let step = 1; step <= rows.length; step += 1) {
      const place = (from + step) % rows.length;
      if (!complete(rows[place])) return place;
    }
    return -1;
  };
  const refresh = () => {
    let done = 0;
    for (const row of rows) {
      const answered = complete(row);
      row.classList.toggle("done", answered);
      done += answered;
    }
    if (bar) bar.value = done;
    const count = document.getElementById("count");
    if (count) count.textContent = `${done} of ${rows.length} answered`;
    return done;
  };
  const turnTo = (part) => {
    const field = part.querySelector("textarea") || part.querySelector("input:checked") || part.querySelector("input");
    field.focus({ preventScroll: true });
    part.scrollIntoView({ block: "center" });
  };
  const advance = (from, after = null) => {
    // First the questions of this result that follow, then the next result that lacks an answer.
    if (from >= 0 && rows[from]) {
      const order = further(rows[from]);
      const left = unsaid(rows[from]).filter((part) => order.indexOf(part) > order.indexOf(after));
      if (left.length) { turnTo(left[0]); return; }
    }
    const place = next(from);
    if (place >= 0 && chosen(rows[place]) && !locked(rows[place])) {
      go(place, false);
      turnTo(unsaid(rows[place]).find((part) => "needed" in part.dataset));
    } else if (place >= 0) go(place);
    else {
      const button = form.querySelector("button.go");
      button.focus({ preventScroll: true });
      say("All answered. Press Enter to send.");
    }
  };

  // --- Answers ---
  const timed = (row) => {
    const field = row.querySelector("input[data-seconds]");
    if (!field) return;
    const spent = (performance.now() - since) / 1000 + Number(field.value || 0);
    field.value = Math.min(spent, 3600).toFixed(2);
    since = performance.now();
  };
  let byKey = false;
  const choose = (place, radio) => {
    byKey = true;
    if (radio.checked) {
      advance(place, radio.closest("[data-question]"));
    } else {
      radio.checked = true;
      radio.dispatchEvent(new Event("change", { bubbles: true }));
    }
    byKey = false;
  };
  form.addEventListener("change", (event) => {
    const row = event.target.closest(".result");
    if (!row || event.target.type !== "radio") return;
    const place = rows.indexOf(row);
    go(place, false);
    timed(row);
    keep();
    refresh();
    if (!training && byKey) {
      say(`Result ${row.dataset.row}: ${event.target.value}`);
      advance(place, event.target.closest("[data-question]"));
    }
  });
  form.addEventListener("input", (event) => {
    keep();
    if (event.target.closest("[data-question]")) refresh();
  });
  form.addEventListener("focusin", (event) => {
    const row = event.target.closest(".result");
    if (row) go(rows.indexOf(row), false);
  });

  // --- Training: each answer is looked at by the server at once. ---
  form.addEventListener("htmx:afterSwap", (event) => {
    const row = event.target.closest(".result");
    if (!row || !training) return;
    row.dataset.locked = "yes";
    for (const radio of radios(row)) if (!radio.checked) radio.disabled = true;
    const feedback = row.querySelector(".feedback");
    if (feedback && feedback.classList.contains("bad")) {
      const button = feedback.querySelector("button");
      if (button) button.focus({ preventScroll: true });
      row.scrollIntoView({ block: "center" });
    } else {
      advance(rows.indexOf(row));
    }
  });
  form.addEventListener("click", (event) => {
    if (event.target.matches("button[data-next]")) {
      event.preventDefault();
      advance(rows.indexOf(event.target.closest(".result")));
    }
  });

  form.addEventListener("submit", () => { clearTimeout(saving); saving = 0; });

  // --- Sending: a lost connection is reported, and sending tried again; the key in the form stores it once. ---
  let waiting = 0;
  let tries = 0;
  const lost = (again) => {
    offline.hidden = false;
    tries += 1;
    const seconds = Math.min(2 ** tries, 30);
    say("No connection. Your answers are kept and will be sent again.");
    clearTimeout(waiting);
    waiting = setTimeout(again, seconds * 1000);
  };
  const failed = (event) => {
    const from = event.target;
    lost(() => {
      if (from === form) window.htmx.trigger(form, "submit");
      else window.htmx.trigger(from, "change");
    });
  };
  form.addEventListener("htmx:sendError", failed);
  form.addEventListener("htmx:timeout", failed);
  form.addEventListener("htmx:responseError", (event) => {
    if ([502, 503, 504].includes(event.detail.xhr.status)) failed(event);
    else if (event.target === form) {
      form.removeAttribute("hx-post");
      form.submit(); // as a plain form, so that the answer is a page that can be read
    } else location.reload();
  });
  form.addEventListener("htmx:afterOnLoad", () => { offline.hidden = true; tries = 0; });
  window.addEventListener("online", () => {
    if (!offline.hidden && tries) { clearTimeout(waiting); window.htmx.trigger(form, "submit"); }
  });

  // --- Keys ---
  const help = document.getElementById("keys");
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("textarea, input[type=text], select")) {
      if (event.key !== "Escape") return;
      const part = event.target.closest("[data-question]");
      event.target.blur();
      if (part) advance(Math.max(here, 0), part);
      else go(Math.max(here, 0));
      return;
    }
    if (here < 0) here = Math.max(next(-1), 0);
    const row = rows[here];
    const answers = radios(row).filter((radio) => !radio.disabled);
    const labels = answers.filter((radio) => !radio.dataset.other);
    const other = (name) => answers.find((radio) => radio.dataset.other === name);
    let radio = null;
    const at = event.target.closest && event.target.closest("[data-question]");
    const own = at && row.contains(at) ? [...at.querySelectorAll("input[type=radio]")] : labels;
    if (/^[1-9]$/.test(event.key)) radio = own[Number(event.key) - 1];
    else if (form.dataset.pairs === "yes" && ["l", "t", "r"].includes(event.key)) radio = labels.find((one) => one.value[0] === event.key);
    else if (event.key === "c") radio = other("can't judge");
    else if (event.key === "b") radio = other("page broken");
    if (radio && !locked(row)) { event.preventDefault(); choose(here, radio); return; }
    const open = (details) => { details.open = true; return details; };
    switch (event.key) {
      case "j": go(Math.min(here + 1, rows.length - 1)); break;
      case "k": go(Math.max(here - 1, 0)); break;
      case "n": {
        const order = further(row);
        const part = order[order.indexOf(at) + 1];
        if (!part) return;
        turnTo(part);
        break;
      }
      case "m": {
        const remark = row.querySelector(".remark");
        if (!remark) return;
        open(remark).querySelector("textarea").focus();
        break;
      }
      case "o": {
        const link = row.querySelector("h3 a");
        if (!link) return;
        link.click();
        break;
      }
      case "p": {
        const preview = row.querySelector("a.previewing");
        if (!preview) return;
        preview.click();
        break;
      }
      case "Enter":
        if (event.target.matches("a, button, summary")) return;
        if (refresh() === rows.length) form.requestSubmit();
        else advance(here - 1);
        break;
      case "?": if (help) { open(help).scrollIntoView({ block: "center" }); help.querySelector("summary").focus(); } break;
      default: return;
    }
    event.preventDefault();
  });

  // --- The time that is left for the page ---
  const time = document.getElementById("time");
  const tick = () => {
    const minutes = (new Date(time.dataset.until) - Date.now()) / 60000;
    const spelt = (number, name) => `${number} ${name}${number === 1 ? "" : "s"}`;
    if (minutes <= 0) {
      time.textContent = "over";
      say("The time for this page is over: it may be given to others.");
      return;
    }
    if (minutes >= 2880) time.textContent = spelt(Math.round(minutes / 1440), "day");
    else if (minutes >= 120) time.textContent = spelt(Math.round(minutes / 60), "hour");
    else time.textContent = spelt(Math.max(1, Math.round(minutes)), "minute");
    if (minutes <= 5) time.classList.add("soon");
    setTimeout(tick, 15000);
  };
  if (time) tick();

  forgetOthers();
  restore();
  refresh();
  const first = next(-1);
  if (first >= 0) {
    here = first;
    rows[first].classList.add("here");
  }
})();
