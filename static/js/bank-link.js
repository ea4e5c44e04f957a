// Opens the provider's module and sends what it hands over with the form. The module is loaded from
// the provider itself, with the page's nonce. Without JavaScript the button stays hidden.
const form = document.getElementById("bank-link");
const button = form.querySelector("[data-connect]");
const problem = form.querySelector("[data-problem]");
const progress = form.querySelector("[data-progress]");
const holder = form.elements.holder_name;
const { nonce } = document.querySelector("script[nonce]");
const KEPT = "bank-link-holder"; // over a bank's own page and back

const loaded = new Promise((resolve, reject) => {
  const script = document.createElement("script");
  script.src = form.dataset.script;
  script.nonce = nonce;
  script.onload = resolve;
  script.onerror = reject;
  document.head.append(script);
});
loaded.catch(() => {}); // said when the button is pressed

function say(text) {
  problem.textContent = text;
  problem.hidden = text === "";
  progress.textContent = "";
  button.disabled = false;
}

function send(publicToken, { accounts }) {
  if (accounts?.length !== 1) {
    say("Choose exactly one account. Connect again, and leave the others out.");
    return;
  }
  sessionStorage.removeItem(KEPT);
  form.elements.public_token.value = publicToken;
  form.elements.account_id.value = accounts[0].id;
  progress.textContent = "Adding the account…";
  form.submit();
}

function leave(error) {
  if (error?.error_code === "INVALID_LINK_TOKEN") {
    say("This page was open for too long. Reload it, and connect the bank.");
  } else if (!error) {
    say("");
    progress.textContent = "Closed before an account was chosen. Nothing was added.";
  } else {
    say(`${error.display_message || "The bank could not be connected."} Try again, or add it by hand.`);
  }
}

function open(returned) {
  problem.hidden = true;
  button.disabled = true;
  progress.textContent = "Opening Plaid's window…";
  loaded.then(() => {
    const settings = {
      token: form.dataset.token,
      cspNonce: nonce,
      onLoad: () => { progress.textContent = ""; },
      onSuccess: send,
      onExit: leave,
    };
    if (returned) settings.receivedRedirectUri = location.href;
    window.Plaid.create(settings).open();
  }).catch(() => say("Plaid's window could not be loaded. A blocker may stop it: allow it and reload, or add by hand."));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  if (!form.reportValidity()) return;
  sessionStorage.setItem(KEPT, holder.value);
  open(false);
});
button.hidden = false;
if (new URLSearchParams(location.search).has("oauth_state_id")) {
  holder.value = sessionStorage.getItem(KEPT) || holder.value;
  open(true);
}
