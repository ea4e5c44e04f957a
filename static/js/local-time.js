// Pages show the time of the books (US Eastern) for every reader, on paper too. The reader's own
// time is in the tooltip, with its zone.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const format = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeStyle: "short" });

function annotate(root) {
  for (const element of root.querySelectorAll("time[data-booked]")) {
    const own = format.format(new Date(element.dateTime));
    element.title = `${own} (${zone}), ${element.dateTime} (UTC)`;
    element.removeAttribute("data-booked");
  }
}

annotate(document);
document.addEventListener("htmx:load", (event) => annotate(event.target));
