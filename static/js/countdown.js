// Keeps `<span data-until="2026-11-20T19:45:00Z">` at how long it is until then.
function words(seconds) {
  if (seconds <= 0) return "over";
  const days = Math.floor(seconds / 86400);
  const hours = Math.floor((seconds % 86400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (days) return `${days} d ${hours} h`;
  if (hours) return `${hours} h ${minutes} min`;
  return minutes ? `${minutes} min ${Math.floor(seconds % 60)} s` : `${Math.floor(seconds)} s`;
}

function tick() {
  for (const element of document.querySelectorAll("[data-until]")) {
    element.textContent = words((new Date(element.dataset.until) - Date.now()) / 1000);
  }
}

tick();
setInterval(tick, 1000);
