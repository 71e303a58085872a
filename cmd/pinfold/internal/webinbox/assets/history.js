// The audit, newest first, and a search in it.

import { get, post } from "./api.js";
import { clock, code, el, setText, sync } from "./dom.js";

const kinds = [["", "Everything"], ["answers", "Answers"], ["refusals", "Refusals"], ["messages", "Messages"], ["agents", "Agents’ lives"]];
let text, kind, who, rows, older, summary, checked;
let before = 0; // where older ones begin
let paged = false; // older ones were asked for: what is new must not push them away
let asked = 0; // counts searches: only the latest one's answer is shown

function query(from) {
  const p = new URLSearchParams();
  if (text.value.trim()) p.set("q", text.value.trim());
  if (who.value.trim()) p.set("who", who.value.trim());
  if (kind.value) p.set("kind", kind.value);
  if (from) p.set("before", String(from));
  return "records?" + p;
}

function make(r) {
  const facts = [["Rule", r.rule], ["Policy", r.policy && code(r.policy)], ["Tool", r.tool],
    ["Request", r.request && el("a", { href: "#requests/" + encodeURIComponent(r.request) }, r.request)],
    ["Record", `${r.seq}`], ["Hash", code(r.hash)]];
  return el("li", { class: "record" },
    el("details", {},
      el("summary", {},
        el("span", { class: "when" }, clock(r.time)), " ",
        el("span", { class: "agent" }, r.who || "the broker"), " ",
        el("span", { class: "act" }, r.action), " ", code(r.resource), " ",
        el("span", { class: "effect", "data-effect": r.effect }, r.effect + (r.code && r.code !== "allowed" && r.code !== r.effect ? ` (${r.code})` : ""))),
      r.reason && el("p", { class: "said" }, r.reason),
      el("dl", { class: "facts" }, facts.filter(([, v]) => v).map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v))))));
}

const drawn = new Map();

// search asks for the newest, or for those before one, and adds these.
async function search(from) {
  const mine = ++asked;
  const f = await get(query(from));
  if (mine !== asked) return;
  if (!from) drawn.clear();
  for (const r of f.items) drawn.set(String(r.seq), r);
  sync(rows, [...drawn.values()], (r) => String(r.seq), make);
  before = f.before;
  older.hidden = before === 0;
  setText(summary, `${drawn.size} shown of ${f.total} records` +
    (before && f.items.length === 0 ? `; none found among the last ${f.searched} that were looked at` : ""));
}

function again() {
  paged = false;
  search(0).catch((err) => setText(summary, err.message));
}

async function check(button) {
  button.disabled = true;
  setText(checked, "Checking…");
  try {
    const v = await post("verify");
    checked.dataset.ok = v.ok;
    setText(checked, v.ok ? `Whole: ${v.seq} records, head ${v.seq}:${v.hash}` : v.problem);
  } catch (err) {
    setText(checked, err.message);
  }
  button.disabled = false;
}

export const history = {
  title: "History",

  show(main) {
    text = el("input", { id: "q", type: "search", autocomplete: "off", spellcheck: "false" });
    who = el("input", { id: "who", type: "search", autocomplete: "off", spellcheck: "false" });
    kind = el("select", { id: "kind", onchange: again }, kinds.map(([v, t]) => el("option", { value: v }, t)));
    rows = el("ol", { class: "records" });
    older = el("button", { type: "button", hidden: true, onclick: () => {
      paged = true;
      search(before).catch((err) => setText(summary, err.message));
    } }, "Older");
    summary = el("p", { class: "hint", role: "status" });
    checked = el("p", { class: "checked", role: "status" });
    const button = el("button", { type: "button", class: "quiet", onclick: () => check(button) }, "Check the chain");
    main.append(el("section", {}, el("h1", {}, "History"),
      el("form", { class: "search", role: "search", onsubmit: (e) => { e.preventDefault(); again(); } },
        el("p", {}, el("label", { for: "q" }, "Text"), text),
        el("p", {}, el("label", { for: "who" }, "Agent"), who),
        el("p", {}, el("label", { for: "kind" }, "Show"), kind),
        el("button", { type: "submit" }, "Search"), button),
      checked, summary, rows, older));
    before = 0;
    paged = false;
    drawn.clear();
  },

  open() {},

  async refresh() {
    if (!paged) await search(0);
  },
};
