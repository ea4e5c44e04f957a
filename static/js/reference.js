// The samples' test key and the tries of an API reference page. The key is a variable of this module and is
// written into the text of the samples: never into an address, an attribute, a cookie or a storage, and a
// form's field holds it only until the button beside it is pressed. Leaving the page forgets it.
const PLACEHOLDER = "bal_test_…";
const TEST_KEY = /^bal_test_[0-9A-Za-z]{49}$/;
const SHOWN_MAX = 20_000;

let key = "";

const bar = document.querySelector(".reference-bar");
const form = bar.querySelector("[data-key-form]");
const field = form.querySelector("input");
const used = bar.querySelector("[data-key-used]");
const advice = bar.querySelector("#test-key-advice");
const status = bar.querySelector("[data-key-status]");

function take(text) {
  key = text;
  field.value = "";
  for (const mark of document.querySelectorAll("[data-key]")) mark.textContent = key || PLACEHOLDER;
  used.querySelector("[data-key-name]").textContent = `${key.slice(0, 13)}…`;
  used.hidden = !key;
  form.hidden = advice.hidden = Boolean(key);
}

function refusal(text) {
  if (text.startsWith("bal_live_")) {
    return "This is a live key. Use a test key here, and replace the live key if somebody may have seen it.";
  }
  return TEST_KEY.test(text) ? "" : "This is not a whole test key. It begins with bal_test_ and has 58 characters.";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = field.value.trim();
  const problem = refusal(text);
  status.textContent = problem || "All samples on this page use your key. You can try each call.";
  take(problem ? "" : text);
  (problem ? field : used.querySelector("[data-key-forget]")).focus();
});

used.querySelector("[data-key-forget]").addEventListener("click", () => {
  take("");
  status.textContent = "The key is forgotten.";
  field.focus();
});

addEventListener("pagehide", () => {
  take("");
  for (const answer of document.querySelectorAll("[data-answer]")) answer.textContent = "";
});
take("");

// Tries

function input(name, parts) {
  const box = document.createElement("div");
  box.className = "field";
  const label = document.createElement("label");
  label.className = "field__label";
  label.textContent = name;
  const control = parts.values.length ? document.createElement("select")
    : document.createElement(parts.isLong ? "textarea" : "input");
  for (const value of parts.values.length && !parts.isRequired ? ["", ...parts.values] : parts.values) {
    control.add(new Option(value || "any", value));
  }
  if (parts.isLong) control.rows = Math.min(parts.text.split("\n").length + 1, 16);
  if (!parts.values.length) control.value = parts.text;
  if (parts.placeholder) control.placeholder = parts.placeholder;
  control.required = parts.isRequired;
  control.spellcheck = false;
  control.id = `${parts.operation}-${name}`;
  label.htmlFor = control.id;
  box.append(label, control);
  return { box, control };
}

function parameters(operation) {
  return [...operation.querySelectorAll("[data-parameter]")].map((line) => {
    const { parameter: name, place, list, placeholder = "" } = line.dataset;
    const isRequired = place === "path";
    const values = [...line.querySelectorAll(".choices-of code")].map((code) => code.textContent);
    return { name, place, ...input(name, { operation: operation.id, isRequired, values, text: "", placeholder }), isList: list !== undefined };
  });
}

function body(operation) {
  const shown = operation.querySelector("[data-body]");
  if (!shown) return null;
  const text = shown.textContent.replaceAll("'\\''", "'");
  return input("body", { operation: operation.id, isLong: true, isRequired: true, values: [], text });
}

function address(operation, fields) {
  const query = new URLSearchParams();
  let path = operation.dataset.path;
  for (const { name, place, control, isList } of fields) {
    const value = control.value.trim();
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    else if (value) for (const one of isList ? value.split(/[\s,]+/) : [value]) query.append(name, one);
  }
  return query.size ? `${path}?${query}` : path;
}

function newIdempotencyKey() {
  return [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function request(operation, text) {
  const headers = { Authorization: `Bearer ${key}` };
  if (operation.dataset.method !== "GET") headers["Idempotency-Key"] = `try-${newIdempotencyKey()}`;
  if (text !== undefined) headers["Content-Type"] = "application/json";
  return {
    method: operation.dataset.method, headers, body: text,
    credentials: "omit", mode: "same-origin", redirect: "error", cache: "no-store", referrerPolicy: "no-referrer",
  };
}

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// A link to what the code of a refusal means.
function explained(text, errors) {
  const [, code] = text.match(/^  "code": "([a-z_]+)"/m) ?? [];
  if (!code) return [];
  const link = document.createElement("a");
  link.href = `${errors}#${code}`;
  link.textContent = `What ${code} means`;
  return [". ", link];
}

async function send(operation, path, options, line, answer) {
  line.textContent = "Sending…";
  const started = performance.now();
  try {
    const response = await fetch(path, options);
    const text = readable(await response.text());
    const took = Math.round(performance.now() - started);
    const idempotency = options.headers["Idempotency-Key"];
    line.textContent = `${response.status} ${response.statusText} in ${took} ms`
      + (idempotency ? `, with Idempotency-Key ${idempotency}` : "")
      + `. Request ${response.headers.get("X-Request-Id")}`;
    answer.textContent = text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}\n…` : text;
    answer.parentElement.hidden = false;
    if (!response.ok) line.append(...explained(text, line.closest("form").dataset.errors));
  } catch {
    line.textContent = "The request did not arrive, or its response was lost. A repeat with the same Idempotency-Key would be harmless; this page makes a new one for each try.";
  }
}

function open(operation, place) {
  const made = document.getElementById("try-form").content.cloneNode(true).firstElementChild;
  const fields = parameters(operation);
  const text = body(operation);
  const line = made.querySelector("[data-line]");
  made.querySelector("[data-fields]").append(...fields.map(({ box }) => box), ...(text ? [text.box] : []));
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!TEST_KEY.test(key)) {
      line.textContent = "Paste a test key first, at the top of this page.";
      return;
    }
    const options = request(operation, text?.control.value);
    send(operation, address(operation, fields), options, line, made.querySelector("[data-answer]"));
  });
  place.append(made);
  return made;
}

for (const operation of document.querySelectorAll("[data-operation]")) {
  const place = operation.querySelector("[data-try]");
  const button = document.createElement("button");
  button.type = "button";
  button.className = "button";
  button.textContent = "Try it";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-describedby", `${operation.id}-title`);
  let made = null;
  button.addEventListener("click", () => {
    made ??= open(operation, place);
    made.hidden = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!made.hidden));
  });
  place.append(button);
}
