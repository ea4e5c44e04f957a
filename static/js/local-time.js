// Shows instants in the reader's own time zone; the page itself carries them in UTC.
const format = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });

function localize(root) {
  for (const element of root.querySelectorAll("time[data-local]")) {
    element.title = `${element.dateTime} (UTC)`;
    element.textContent = format.format(new Date(element.dateTime));
    element.removeAttribute("data-local");
  }
}

localize(document);
document.addEventListener("htmx:load", (event) => localize(event.target));
