// The leave that is in force, which can be taken back.

import { get, post } from "./api.js";
import { ago, clock, code, el, say, setText, sync, verb } from "./dom.js";

let rows, empty, more, problem;

async function revoke(g, button) {
  button.disabled = true;
  problem.hidden = true;
  try {
    await post(`grants/${encodeURIComponent(g.id)}/revoke`);
    say(`Withdrawn from ${g.agent}`);
    const li = button.closest("li");
    const next = (li.nextElementSibling || li.previousElementSibling)?.querySelector("button");
    li.remove();
    (next || document.getElementById("main")).focus();
  } catch (err) {
    problem.textContent = err.message;
    problem.hidden = false;
    button.disabled = false;
  }
}

function make(g) {
  const button = el("button", { type: "button", class: "deny", onclick: () => revoke(g, button) },
    "Withdraw", el("span", { class: "unseen" }, ` from ${g.agent}: ${verb(g.action)} ${g.resource}`));
  return el("li", { class: "grant" },
    el("p", {}, el("span", { class: "agent" }, g.agent), ` may ${verb(g.action)} `, code(g.resource), g.tool && [" with ", code(g.tool)]),
    el("p", { class: "hint" }, g.scope, g.until ? [" · until ", clock(g.until)] : null, " · asked ", ago(g.created)),
    button);
}

export const grants = {
  title: "Grants",

  show(main) {
    rows = el("ul", { class: "grants" });
    empty = el("p", { class: "empty", hidden: true }, "No approval is in force.");
    more = el("p", { class: "empty", hidden: true });
    problem = el("p", { class: "problem", role: "alert", hidden: true });
    main.append(el("section", {}, el("h1", {}, "Grants"), problem, empty, rows, more));
  },

  open() {},

  async refresh() {
    const into = rows;
    const list = await get("grants");
    sync(into, list.items, (g) => g.id, make);
    empty.hidden = list.items.length > 0;
    more.hidden = list.more === 0;
    setText(more, `${list.more} more are not shown: pinfold grants has all.`);
  },
};
