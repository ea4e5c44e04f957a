// Says by how much the chosen lines differ from the bank's, and moves between them by the keyboard:
// up and down, the space bar chooses, Enter matches once nothing is left. Without JavaScript the
// server says what differs.
const form = document.getElementById("match");
const difference = form.querySelector("[data-difference]");
const boxes = [...form.querySelectorAll("input[type=checkbox]")];
const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });

function left() {
  const sum = (name) => boxes
    .filter((box) => box.name === name && box.checked)
    .reduce((cents, box) => cents + Number(box.dataset.amount), 0);
  return Number(form.dataset.amount) + sum("also") - sum("books");
}

function show() {
  difference.textContent = dollars.format(left() / 100).replace("-", "−");
}

function move(box, step) {
  const shown = boxes.filter((each) => each.offsetParent !== null);
  shown[shown.indexOf(box) + step]?.focus();
}

form.addEventListener("change", show);
form.addEventListener("keydown", (event) => {
  if (event.target.type !== "checkbox") return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.target, event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter") {
    event.preventDefault();
    const reason = form.elements.reason;
    if (left() !== 0 || !reason.value.trim()) reason.focus();
    else form.requestSubmit();
  }
});
boxes.find((box) => box.offsetParent !== null)?.focus();
show();
