// The frame: who is let in, which section is shown, and when to look again.

import { Away, Refused, enter, get, leave } from "./api.js";
import { chosen, deliberate } from "./deliberate.js";
import { alarm, el, say, setText } from "./dom.js";
import { keys } from "./keys.js";
import { follow, single } from "./live.js";
import { agents } from "./agents.js";
import { grants } from "./grants.js";
import { history as records } from "./history.js";
import { requests } from "./requests.js";

const sections = { requests, agents, grants, history: records };
const byId = (id) => document.getElementById(id);
const main = byId("main");
let stop = null; // of the stream; null while signed out
let shown = null; // the section
let waiting = 0; // requests, as last seen

// route shows what the address says.
function route() {
  if (!stop) return;
  const [name, ...rest] = location.hash.slice(1).split("/");
  const section = sections[name] || requests;
  for (const a of byId("nav").querySelectorAll("a")) {
    if (sections[a.hash.slice(1)] === section) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
  }
  if (shown !== section) {
    shown = section;
    chosen()?.close();
    main.replaceChildren();
    section.show(main);
    window.scrollTo(0, 0);
  }
  section.open(decodeURIComponent(rest.join("/")));
  title();
  look();
}

function title() {
  document.title = (waiting ? `(${waiting}) ` : "") + (shown ? shown.title + " · " : "") + "pinfold";
}

// look asks for what is shown, and for how many requests wait.
const look = single(async () => {
  if (!stop) return;
  try {
    const list = await get("requests");
    const n = list.items.length + list.more;
    if (n > waiting) say(n === 1 ? "1 request waits" : `${n} requests wait`);
    waiting = n;
    setText(byId("count"), String(n));
    byId("count").hidden = n === 0;
    if (shown) await shown.refresh(list);
    title();
  } catch (err) {
    if (err instanceof Refused && err.status === 401) signedOut("");
    else if (!(err instanceof Away)) trouble(err);
  }
}, 200);

function trouble(err) {
  state("trouble", err.message);
}

const states = { live: "Live", away: "Reconnecting…" };

// state says whether what is shown is how things are.
function state(name, text) {
  const e = byId("live");
  if (e.dataset.state === name && name !== "trouble") return;
  if (e.dataset.state && e.dataset.state !== "live" && name === "live") say("Live again");
  if (name === "away" && e.dataset.state === "live") alarm("pinfold does not answer; reconnecting");
  e.dataset.state = name;
  setText(e, text || states[name]);
}

function signedIn() {
  byId("nav").hidden = byId("tools").hidden = false;
  shown = null;
  stop = follow(look, state);
  route();
}

// signedOut says how to get in.
function signedOut(problem) {
  if (stop) stop();
  chosen()?.close();
  stop = shown = null;
  waiting = 0;
  byId("live").dataset.state = "";
  byId("nav").hidden = byId("tools").hidden = true;
  document.title = "Sign in · pinfold";
  const field = el("input", { id: "link", type: "text", autocomplete: "off", spellcheck: "false", required: true });
  main.replaceChildren(el("section", { class: "door" },
    el("h1", { tabindex: "-1" }, "Open the link of your broker"),
    problem && el("p", { class: "problem", role: "alert" }, problem),
    el("p", {}, "This browser is not signed in, or no longer. ", el("code", {}, "pinfold serve --web"),
      " prints a link that works once; the next one stands in the file ", el("code", {}, "page.link"), " of its state directory."),
    el("form", { onsubmit: (e) => { e.preventDefault(); tryLink(field.value); } },
      el("label", { for: "link" }, "Or paste the link here"), field,
      el("button", { type: "submit" }, "Sign in")),
  ));
  main.querySelector("h1").focus();
}

// tokenOf is what stands behind the # of a link; "" where there is none.
function tokenOf(text) {
  const found = /(?:^|#)([A-Z2-7]{26})$/.exec(text.trim());
  return found ? found[1] : "";
}

async function tryLink(text) {
  const token = tokenOf(text);
  if (!token) {
    signedOut("That is no link of pinfold's.");
    return;
  }
  try {
    await enter(token);
    signedIn();
  } catch (err) {
    signedOut(err instanceof Refused && err.code === "link" ? "That link was used already, or is an old one." : err.message);
  }
}

async function begin() {
  const token = location.hash.length === 27 ? tokenOf(location.hash) : "";
  if (token) {
    // Used up or not, it need not stand in the address or the history.
    history.replaceState(null, "", "/");
    await tryLink(token);
    return;
  }
  try {
    await get("requests");
    signedIn();
  } catch (err) {
    if (err instanceof Refused && err.status === 401) signedOut("");
    else signedIn(); // it is away, and will be back
  }
}

byId("leave").addEventListener("click", async () => {
  try {
    await leave();
  } catch {
    // The key is forgotten here, and without it the cookie opens nothing.
  }
  signedOut("");
});
byId("skip").addEventListener("click", (e) => {
  e.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", () => {
  if (!stop && tokenOf(location.hash)) begin();
  else route();
});
deliberate();
keys(() => shown);
begin();
