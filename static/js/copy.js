// Copies the text of the element that `data-copy` names, and gives each piece of code on a page of the
// documentation a button. Without JavaScript there is none.
function wire(button, source, label) {
  const before = label.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      label.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(source);
      label.textContent = "Press Ctrl+C to copy";
    }
    setTimeout(() => { label.textContent = before; }, 3000);
  });
}

for (const button of document.querySelectorAll("button[data-copy]")) {
  wire(button, document.getElementById(button.dataset.copy), button.querySelector("[data-copy-label]"));
}

for (const code of document.querySelectorAll(".prose pre.snippet")) {
  const box = document.createElement("div");
  box.className = "snippet-box";
  code.replaceWith(box);
  const button = document.createElement("button");
  button.type = "button";
  button.className = "snippet-box__copy";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  box.append(code, button);
  wire(button, code, button);
}
