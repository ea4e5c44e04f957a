// Says what the balance was on the day under the pointer, under the finger, or chosen by the arrow
// keys. The days are those of the table below the chart, the newest first. htmx replaces the chart
// and the table each minute: what is shown then is the day that was chosen before.
let chosen = null;
let hadFocus = false;

function days() {
  const rows = document.querySelectorAll("#chart-table tbody tr");
  return [...rows].reverse().map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
}

function words([day, ...amounts]) {
  const available = amounts.at(-1);
  const fired = amounts.length > 1 && amounts[0] ? ` Auto-funding started adding ${amounts[0]}.` : "";
  return `${day}: ${available}.${fired}`;
}

function show(slider, place) {
  const found = days()[place];
  const point = document.querySelector(".chart__line").points[place + 1];
  if (!found || !point) return;
  slider.value = String(place);
  slider.setAttribute("aria-valuetext", words(found));
  document.getElementById("chart-value").textContent = words(found);
  document.getElementById("chart-cursor").setAttribute("d", `M${point.x} 0V200`);
  document.getElementById("chart-point").setAttribute("d", `M${point.x} ${point.y}h0`);
}

function under(slider, event) {
  const box = slider.getBoundingClientRect();
  const share = (event.clientX - box.left) / box.width;
  const last = Number(slider.max);
  return Math.max(0, Math.min(last, Math.floor(share * (last + 1))));
}

function wire() {
  const slider = document.getElementById("chart-slider");
  if (!slider || !slider.hidden) return;
  let isHeld = false;
  const choose = (place) => { chosen = place; show(slider, place); };
  slider.hidden = false;
  slider.setAttribute("aria-valuetext", words(days().at(-1)));
  slider.addEventListener("pointermove", (event) => choose(under(slider, event)));
  slider.addEventListener("pointerdown", (event) => { isHeld = true; choose(under(slider, event)); });
  slider.addEventListener("pointerup", () => { isHeld = false; });
  slider.addEventListener("pointercancel", () => { isHeld = false; });
  // Where a pointer holds the slider, the browser counts from the middle of its thumb; we do not.
  slider.addEventListener("input", () => {
    if (isHeld) show(slider, chosen);
    else choose(Number(slider.value));
  });
  if (hadFocus) slider.focus({ preventScroll: true });
  if (chosen !== null && chosen <= Number(slider.max)) show(slider, chosen);
}

wire();
document.addEventListener("htmx:beforeSwap", () => {
  hadFocus = document.activeElement?.id === "chart-slider";
});
document.addEventListener("htmx:load", wire);
