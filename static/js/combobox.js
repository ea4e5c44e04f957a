// Puts a search field in the place of each <select data-search="…"> (ARIA combobox with a listbox, manual
// selection). The select stays in the form, hidden, and holds what was chosen: typing empties it, and only a
// click or Enter on an option fills it, so that nobody is chosen who was not pointed at. Without JavaScript
// the select is what people see.
const DELAY = 200; // milliseconds from the last key to the search

function element(name, className, properties = {}) {
  return Object.assign(document.createElement(name), { className, ...properties });
}

class Combobox {
  constructor(select) {
    this.select = select;
    this.found = [];
    this.active = -1;
    this.build();
    this.listen();
    this.show();
  }

  build() {
    const { id } = this.select;
    this.input = element("input", "", {
      id: `${id}_search`, type: "text", role: "combobox", autocomplete: "off", spellcheck: false,
      placeholder: "Name or last four digits",
    });
    this.list = element("ul", "combobox__list", { id: `${id}_list`, role: "listbox", ariaLabel: "Found", hidden: true });
    this.note = element("p", "combobox__note", { ariaHidden: "true" });
    this.popup = element("div", "combobox__popup", { hidden: true });
    this.status = element("p", "visually-hidden", { role: "status" });
    const box = element("div", "combobox");
    this.describe(id);
    this.popup.append(this.list, this.note);
    box.append(this.input, this.popup, this.status);
    this.select.after(box);
    const hadFocus = this.select.autofocus || document.activeElement === this.select;
    this.select.hidden = true;
    if (hadFocus) this.input.focus();
  }

  describe(id) {
    const { input, select } = this;
    document.querySelector(`label[for="${id}"]`).htmlFor = input.id;
    document.getElementById(`${id}_helptext`)?.remove(); // it tells what the select alone lacks
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", this.list.id);
    input.setAttribute("aria-expanded", "false");
    if (select.required) input.setAttribute("aria-required", "true");
    if (select.getAttribute("aria-invalid")) input.setAttribute("aria-invalid", "true");
    if (document.getElementById(`${id}_error`)) input.setAttribute("aria-describedby", `${id}_error`);
  }

  listen() {
    this.input.addEventListener("input", () => { this.select.value = ""; this.search(DELAY); });
    this.input.addEventListener("click", () => { if (this.popup.hidden) this.search(0); });
    this.input.addEventListener("focus", () => this.input.select());
    this.input.addEventListener("blur", () => this.close());
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.popup.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose([...this.list.children].indexOf(option));
    });
  }

  show() {
    this.input.value = this.select.value ? this.select.selectedOptions[0].text : "";
  }

  press(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const keys = {
      ArrowDown: () => (event.altKey ? this.search(0) : this.step(1)),
      ArrowUp: () => (event.altKey ? this.close() : this.step(-1)),
      Enter: () => this.choose(this.active),
      Escape: () => this.leave(),
    };
    if (!keys[event.key]) return;
    if (event.key === "Enter" && this.popup.hidden && this.select.value) return; // sends the form
    event.preventDefault();
    keys[event.key]();
  }

  // Moves to the next option, or opens the list and then does.
  async step(by) {
    if (this.popup.hidden) await this.search(0);
    if (!this.found.length) return;
    const from = this.active < 0 && by < 0 ? 0 : this.active;
    this.point((from + by + this.found.length) % this.found.length);
  }

  point(place) {
    this.active = place;
    [...this.list.children].forEach((option, at) => {
      option.classList.toggle("combobox__option--active", at === place);
    });
    const option = this.list.children[place];
    if (!option) return this.input.removeAttribute("aria-activedescendant");
    option.scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", option.id);
  }

  choose(place) {
    const one = this.found[place];
    if (!one) return;
    if (![...this.select.options].some((option) => option.value === one.id)) {
      this.select.add(new Option(`${one.name}, ${one.account}`, one.id));
    }
    this.select.value = one.id;
    this.select.dispatchEvent(new Event("change", { bubbles: true }));
    this.show();
    this.close();
  }

  leave() {
    if (this.popup.hidden) this.select.value = this.input.value = "";
    this.close();
  }

  close() {
    clearTimeout(this.timer);
    this.request?.abort();
    this.popup.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.point(-1);
  }

  search(delay) {
    clearTimeout(this.timer);
    this.request?.abort();
    const request = this.request = new AbortController();
    return new Promise((done) => {
      this.timer = setTimeout(() => this.ask(request.signal).then(done), delay);
    });
  }

  async ask(signal) {
    const text = this.select.value ? "" : this.input.value.trim();
    const headers = JSON.parse(this.select.closest("[hx-headers]").getAttribute("hx-headers"));
    try {
      const address = `${this.select.dataset.search}?${new URLSearchParams({ q: text })}`;
      const answer = await fetch(address, { signal, headers: { ...headers, "HX-Request": "true" } });
      if (answer.headers.has("HX-Refresh")) return location.reload(); // another window switched
      if (!answer.ok) throw new Error(answer.statusText);
      const { recipients, more } = await answer.json();
      if (!signal.aborted) this.fill(recipients, this.words(recipients.length, more, text));
    } catch {
      if (!signal.aborted) this.fill([], "The search does not work right now. Reload the page and try again.");
    }
  }

  words(count, more, text) {
    if (!count) return text ? `Nobody on your list matches “${text}”.` : "Your list is empty.";
    if (more) return `The first ${count} are shown. Type more of the name, or the last four digits.`;
    return count === 1 ? "1 recipient found." : `${count} recipients found.`;
  }

  fill(found, words) {
    this.found = found;
    this.list.replaceChildren(...found.map((one, place) => this.option(one, place)));
    this.list.hidden = !found.length;
    this.note.textContent = this.status.textContent = words;
    this.popup.hidden = false;
    this.input.setAttribute("aria-expanded", String(found.length > 0));
    this.point(-1);
  }

  option(one, place) {
    const option = element("li", "combobox__option", { id: `${this.list.id}_${place}`, role: "option" });
    option.setAttribute("aria-selected", String(this.select.value === one.id));
    const account = one.holder ? `${one.holder} · ${one.account}` : one.account;
    option.append(
      element("p", "combobox__name", { textContent: one.name }),
      element("p", "table__sub", { textContent: account }),
    );
    return option;
  }
}

for (const select of document.querySelectorAll("select[data-search]")) new Combobox(select);
