// The search that Ctrl+K, or Cmd+K, opens on every page: a field that keeps the focus, and choices below it that
// the server lists. A single key opens nothing, because speech input types single keys (WCAG 2.1.4).
const dialog = document.getElementById("find");
const field = dialog.querySelector("[role=combobox]");
const results = document.getElementById("find-results");
const said = dialog.querySelector("[data-find-said]");
let isEnterWaiting = false; // it was pressed before what was typed last had been answered

const choices = () => [...results.querySelectorAll("[role=option]")];
const chosen = () => results.querySelector("[aria-selected=true]");
const isAnswered = () => results.querySelector("[data-typed]")?.dataset.typed === field.value;

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) field.setAttribute("aria-activedescendant", option.id);
  else field.removeAttribute("aria-activedescendant");
}

function step(by) {
  const all = choices();
  if (all.length) choose(all[(all.indexOf(chosen()) + by + all.length) % all.length]);
}

function open() {
  if (dialog.open) return;
  dialog.showModal();
  field.select();
  field.dispatchEvent(new Event("find-opened"));
}

function enter(event) {
  event.preventDefault(); // it would press Close
  isEnterWaiting = !isAnswered();
  if (!isEnterWaiting) chosen()?.click();
}

const KEYS = { ArrowDown: () => step(1), ArrowUp: () => step(-1) };

field.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter") enter(event);
  if (!(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

results.addEventListener("htmx:afterSwap", () => {
  const count = choices().length;
  field.setAttribute("aria-expanded", String(count > 0));
  said.textContent = count ? `${count} ${count === 1 ? "result" : "results"}` : "Nothing found";
  choose(choices()[0]);
  if (isEnterWaiting && isAnswered()) {
    isEnterWaiting = false;
    chosen()?.click();
  }
});

dialog.addEventListener("close", () => { isEnterWaiting = false; });
// A click beside the dialog is one on its backdrop.
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  open();
});

for (const link of document.querySelectorAll("[data-find]")) {
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    open();
  });
}
