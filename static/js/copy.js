// Copies the text of the element that `data-copy` names. Without JavaScript the button stays hidden.
for (const button of document.querySelectorAll("button[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const label = button.querySelector("[data-copy-label]");
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
