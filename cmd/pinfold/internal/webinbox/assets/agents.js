// The tree of agents, each beneath its manager.

import { get } from "./api.js";
import { ago, code, el, setText, sync } from "./dom.js";

let tree, empty, more;

function make(a) {
  const text = {
    state: el("span", { class: "state" }), task: el("span", { class: "said task" }), counts: el("span", { class: "counts" }),
    exit: el("span", { class: "said" }),
  };
  const facts = el("dl", { class: "facts" },
    ...[["Hired", ago(a.created)], ["Directory", code(a.cwd)], ["Session", code(a.session)], ["Model", a.model], ["Policy", a.policy && code(a.policy.slice(0, 16))]]
      .filter(([, v]) => v).map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v))));
  const node = el("li", {},
    el("details", {},
      el("summary", {}, el("span", { class: "agent" }, a.id), " ", text.state, " ", text.counts, " ", text.task),
      text.exit, facts),
    el("ul", { class: "tree" }));
  node.parts = text;
  return node;
}

function update(node, a) {
  const p = node.parts;
  setText(p.state, a.state);
  p.state.dataset.state = a.state;
  setText(p.task, a.task);
  const counts = [];
  if (a.requests) counts.push(a.requests === 1 ? "1 request waits" : `${a.requests} requests wait`);
  if (a.queued) counts.push(a.queued === 1 ? "1 message" : `${a.queued} messages`);
  setText(p.counts, counts.join(" · "));
  setText(p.exit, a.exit ? a.exit + (a.output ? ": " + a.output : "") : "");
}

export const agents = {
  title: "Agents",

  show(main) {
    tree = el("ul", { class: "tree root" });
    empty = el("p", { class: "empty", hidden: true }, "There are no agents. ", el("code", {}, "pinfold hire"), " makes one.");
    more = el("p", { class: "empty", hidden: true });
    main.append(el("section", {}, el("h1", {}, "Agents"), empty, tree, more));
  },

  open() {},

  async refresh() {
    const into = tree;
    const list = await get("agents");
    const beneath = new Map();
    for (const a of list.items) {
      if (!beneath.has(a.parent)) beneath.set(a.parent, []);
      beneath.get(a.parent).push(a);
    }
    (function grow(ul, parent) {
      const own = beneath.get(parent) || [];
      sync(ul, own, (a) => a.id, make, update);
      for (const li of ul.children) grow(li.lastElementChild, li.dataset.key);
    })(into, "");
    empty.hidden = list.items.length > 0;
    more.hidden = list.more === 0;
    setText(more, `${list.more} more are not shown: pinfold agents list has all.`);
  },
};
