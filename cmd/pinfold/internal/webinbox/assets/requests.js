// What waits for an answer: the list, and beside it the one that is chosen.

import { Refused, get, post } from "./api.js";
import { ago, code, el, say, setText, sync, verb } from "./dom.js";
import { chosen as answerChosen } from "./deliberate.js";
import { detail } from "./detail.js";

const wide = window.matchMedia("(min-width: 60rem)");
let root, items, empty, more, pane;
let list = [];
let chosen = ""; // id of what the pane shows; "" is nothing
let pending = false; // whether it waited when it was drawn
let reason = ""; // that it had then
let turn = 0; // counts what was begun to be drawn: only the latest is shown
let answering = false; // an answer is
let toHeading = false; // the focus is to go to the heading, once it is there

const address = (id) => "#requests/" + encodeURIComponent(id);

function line(r) {
  return el("li", {},
    el("a", { href: address(r.id) },
      el("span", { class: "who" }, r.agent, " ", el("span", { class: "age" }, ago(r.created))),
      el("span", { class: "what" }, verb(r.action) + " ", code(r.resource)),
      el("span", { class: "why" })));
}

// update shows what may change of a request while it waits: its reason.
function update(li, r) {
  const why = li.querySelector(".why");
  setText(why, r.reason);
  why.hidden = !r.reason;
}

function mark() {
  for (const a of items.querySelectorAll("a")) {
    if (a.parentElement.dataset.key === chosen) a.setAttribute("aria-current", "true");
    else a.removeAttribute("aria-current");
  }
  root.classList.toggle("chosen", chosen !== "");
}

// draw shows the request that is chosen. Its heading gets the focus where the
// person went there.
async function draw() {
  const id = chosen;
  const mine = ++turn;
  let r;
  try {
    r = await get("requests/" + encodeURIComponent(id));
  } catch (err) {
    if (!(err instanceof Refused) || err.status === 401) throw err;
    if (mine === turn) pane.replaceChildren(el("p", { class: "problem", role: "alert" }, err.message));
    return;
  }
  if (mine !== turn) return; // another one was chosen meanwhile, or this one again
  if (!r.yours && pending) say("The request was answered");
  pending = r.yours;
  reason = r.reason;
  answerChosen()?.close();
  const back = pane.contains(document.activeElement); // the focus was on what goes
  pane.replaceChildren(detail(r, answer));
  if (toHeading || back) pane.querySelector("h2").focus();
  toHeading = false;
}

// answer sends an answer, and says what became of it.
async function answer(r, how, body) {
  answering = true;
  try {
    await post(`requests/${encodeURIComponent(r.id)}/${how}`, body);
  } finally {
    answering = false;
  }
  pending = false;
  list = list.filter((x) => x.id !== r.id);
  render();
  say(how === "approve" ? `Approved for ${r.agent}` : `Denied for ${r.agent}`);
  if (chosen !== r.id) return;
  await draw().catch(() => pane.replaceChildren()); // looking again draws it
  if (chosen !== r.id || !pane.firstElementChild) return;
  const rest = list.filter((x) => x.id !== r.id); // an older list may have come in between
  const to = rest.length > 0
    ? el("a", { class: "next", href: address(rest[0].id) }, rest.length === 1 ? "Next request" : `Next of ${rest.length} requests`)
    : el("p", { class: "next", tabindex: "-1" }, "Nothing else waits.");
  pane.firstElementChild.append(to);
  to.focus(); // never an answer: a second Enter answers nothing
}

function render() {
  sync(items, list, (r) => r.id, line, update);
  empty.hidden = list.length > 0;
  mark();
}

function step(by) {
  const i = list.findIndex((r) => r.id === chosen);
  const next = list[i < 0 ? 0 : i + by];
  if (!next) return;
  location.hash = address(next.id);
  requests.open(next.id); // at once: another key may come before the event
}

export const requests = {
  title: "Requests",

  show(main) {
    items = el("ol", { class: "list" });
    empty = el("p", { class: "empty" }, "Nothing waits for your answer.");
    more = el("p", { class: "empty", hidden: true });
    pane = el("div", { class: "pane" });
    root = el("div", { class: "requests" },
      el("section", { class: "side", "aria-labelledby": "waiting" },
        el("h1", { id: "waiting" }, "Waiting for you"), empty, items, more),
      pane);
    main.append(root);
    chosen = "";
    list = [];
    turn++;
    toHeading = false;
  },

  open(id) {
    if (id === chosen) return;
    chosen = id;
    turn++;
    pending = false;
    toHeading = id !== "";
    answerChosen()?.close();
    pane.replaceChildren();
    mark();
    if (id) draw().catch(() => {}); // looking again tells
  },

  async refresh(answered) {
    list = answered.items;
    render();
    more.hidden = answered.more === 0;
    setText(more, `${answered.more} more, once these are answered.`);
    if (!chosen && wide.matches && list.length > 0 && ["", "#requests"].includes(location.hash)) {
      // Nothing is in the pane that a click could be meant for, and nobody is on
      // the way elsewhere: the address changes before the page hears of it.
      history.replaceState(null, "", address(list[0].id));
      chosen = list[0].id;
      mark();
      await draw();
    } else if (chosen && !answering && (pending && !list.some((r) => r.id === chosen) || !pane.firstChild)) {
      await draw();
    } else if (pending && !answering && !answerChosen() && list.some((r) => r.id === chosen && r.reason !== reason)) {
      await draw(); // somebody says why, after all
    }
  },

  key(k) {
    if (k === "j") step(1);
    else if (k === "k") step(-1);
    else if (k === "a") pane.querySelector(".answers")?.answer("approve");
    else if (k === "d") pane.querySelector(".answers")?.answer("deny");
    else if (k >= "1" && k <= "5" && answerChosen()?.how === "approve") pane.querySelectorAll("input[name=scope]")[k - 1]?.click();
    else return false;
    return true;
  },
};
