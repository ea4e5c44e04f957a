// Names the boxes of select2 by the labels of their fields. By itself it names a box by what is chosen in it,
// which is nothing at first, and the search in it not at all.
function labelOf(select) {
  const label = document.querySelector(`label[for="${select.id}"]`);
  if (label) label.id ||= `${select.id}_label`;
  return label;
}

function nameBox(select) {
  const label = labelOf(select);
  const box = select.nextElementSibling?.querySelector(".select2-selection");
  if (!label || !box) return;
  box.querySelector(".select2-selection__rendered")?.setAttribute("aria-labelledby", label.id);
  const chosen = box.getAttribute("aria-labelledby");
  box.setAttribute("aria-labelledby", chosen ? `${label.id} ${chosen}` : label.id);
}

function nameSearch(select) {
  const label = labelOf(select);
  const search = document.querySelector(".select2-container--open .select2-search__field");
  if (label) search?.setAttribute("aria-labelledby", label.id);
}

// jQuery makes the boxes once the page is ready; the page is loaded after that.
addEventListener("load", () => {
  document.querySelectorAll("select.select2-hidden-accessible").forEach(nameBox);
  window.django?.jQuery(document).on("select2:open", (event) => nameSearch(event.target));
});
