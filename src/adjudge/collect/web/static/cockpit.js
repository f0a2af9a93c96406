// The requester's list of judges: kept fresh, but never under the hand that is choosing; and links
// that are copied at a click. Without this script the page is the same, as of when it was loaded.
(() => {
  "use strict";
  const list = document.querySelector("[data-live]");
  if (list) {
    list.addEventListener("htmx:beforeRequest", (event) => {
      const busy = list.querySelector("input:checked") || list.contains(document.activeElement);
      if (busy) event.preventDefault();
    });
  }
  const buttons = document.querySelectorAll("button[data-copy]");
  if (!navigator.clipboard) return; // only where the page is safe from others
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.dataset.copy);
      const before = button.firstChild.textContent;
      button.firstChild.textContent = "Copied";
      setTimeout(() => { button.firstChild.textContent = before; }, 2000);
    });
  }
})();
