// Says on the page that the browser or the person refused a passkey.
document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  document.getElementById("passkey_error").hidden = false;
});
