// Shows new deliveries without a reload: every two seconds, while somebody looks.
"use strict";

async function renew(part) {
  if (document.hidden) return;
  const answer = await fetch("/");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("live");
  if (fresh && fresh.innerHTML !== part.innerHTML && !part.contains(document.activeElement)) {
    part.replaceChildren(...fresh.childNodes);
  }
}

const part = document.getElementById("live");
if (part) setInterval(() => renew(part).catch(() => {}), 2000);
