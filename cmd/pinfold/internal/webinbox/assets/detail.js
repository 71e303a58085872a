// One request: what is wanted, why, what would change, and the two answers.

import { chosen, choose, note } from "./deliberate.js";
import { ago, clock, code, el, setText, verb } from "./dom.js";

const scopes = [
  ["once", "Once", "this call, with these arguments, one time"],
  ["path", "Path", "this place, however often"],
  ["subtree", "Subtree", "this place and what is beneath it"],
  ["session", "Session", "the same action by the same tool, anywhere that may be asked for"],
  ["until", "Until a time", "this place, and no longer than you say"],
];

const times = [["0", "as long as the agent is there"], ["15", "15 minutes"], ["60", "1 hour"], ["480", "8 hours"], ["1440", "1 day"]];

function fact(name, ...value) {
  return el("div", {}, el("dt", {}, name), el("dd", {}, ...value));
}

// diff is a unified diff, its lines wrapped: nothing stands beyond an edge. That
// a line is added or removed is said by its first character, and by its colour.
function diff(text) {
  const kinds = { "+": "add", "-": "del", "@": "hunk" };
  const pre = el("pre", { class: "diff", tabindex: "0", role: "region", "aria-label": "Diff" });
  const lines = text.replace(/\n$/, "").split("\n");
  lines.forEach((l, i) => {
    const head = i < 2 && (l.startsWith("--- ") || l.startsWith("+++ "));
    pre.append(el("span", { class: head ? "file" : kinds[l[0]] || "same" }, l || " "), "\n");
  });
  return pre;
}

function change(c) {
  if (!c || !c.diff && !c.note) return null;
  return el("section", { class: "change" },
    el("h3", {}, "What changes ", c.diff && el("span", { class: "counts" },
      el("span", { class: "plus" }, `+${c.added}`), " ", el("span", { class: "minus" }, `−${c.removed}`), el("span", { class: "unseen" }, " lines"))),
    c.note && el("p", { class: "note" }, c.note),
    c.cut && el("p", { class: "warning" }, "The diff goes on: this is only its beginning."),
    c.diff && diff(c.diff));
}

// allows says what a yes lets the agent do, where that is more than the heading
// says.
function allows(r) {
  if (r.access.length === 1 && r.access[0].resource === r.resource) return null;
  return el("section", {}, el("h3", {}, "What an approval allows"),
    el("ul", { class: "access" }, r.access.map((a) => el("li", {}, verb(a.action) + " ", code(a.resource)))));
}

const outcomes = {
  approved: "approved, not used yet", consumed: "approved, and used", active: "approved, in force", revoked: "withdrawn",
  denied: "denied", cancelled: "cancelled", expired: "over",
};

function outcome(r) {
  const by = r.resolver ? `by ${r.resolver}` : r.code ? `by the broker (${r.code})` : "by the broker";
  const good = ["approved", "consumed", "active"].includes(r.status);
  return el("section", { class: "outcome " + (good ? "good" : "bad") },
    el("p", {}, el("strong", {}, r.status === "pending" ? "This waits for the agent's own manager." : `This was ${outcomes[r.status] || r.status}`),
      r.status === "pending" ? null : ` ${by} `, r.resolved ? clock(r.resolved) : null),
    r.scope && el("p", {}, "Scope: ", r.scope, r.until ? [", until ", clock(r.until)] : null),
    r.deny_reason && el("p", {}, "Reason: ", r.deny_reason));
}

// form has the two answers. act sends one and may throw. Each answer is chosen
// first, which shows what it would do, and then given; see deliberate.js.
function form(r, act) {
  const problem = el("p", { class: "problem", role: "alert", hidden: true });
  const lasting = el("select", { id: "lasting", disabled: true }, times.map(([v, t]) => el("option", { value: v }, t)));
  const reason = el("input", { id: "reason", class: "reason", type: "text", maxlength: "1000", autocomplete: "off" });
  const reach = el("span", {});
  const radios = scopes.map(([value, name, text]) => el("label", { class: "scope" },
    el("input", { type: "radio", name: "scope", value, checked: value === "once", onchange: () => {
      lasting.disabled = value === "once";
      if (value === "until" && lasting.value === "0") lasting.value = "60";
      lasting.options[0].disabled = value === "until";
      tell();
    } }),
    el("span", {}, el("strong", {}, name), " ", el("span", { class: "hint" }, text))));
  // Neither is reached by Tab, or has the focus by itself: Enter and Space give no answer.
  const yes = el("button", { type: "button", class: "approve give", tabindex: "-1", "aria-keyshortcuts": "Control+Shift+Enter" }, "Approve");
  const no = el("button", { type: "button", class: "deny give", tabindex: "-1", "aria-keyshortcuts": "Control+Enter" }, "Deny");
  const back = () => el("button", { type: "button", class: "back-out", onclick: () => leave() }, "Cancel");
  const says = el("p", { class: "says", tabindex: "-1" }, el("strong", {}, "Approve: "), el("span", { class: "agent" }, r.agent), " may ",
    r.access.flatMap((a, i) => [i > 0 && ", ", verb(a.action) + " ", code(a.resource)]), ". ", reach,
    el("span", { class: "unseen" }, " Control, Shift and Enter approve it; Escape cancels."));
  const choice = el("form", { class: "panel", hidden: true, "data-how": "approve", onsubmit: (e) => e.preventDefault(), onchange: () => chosen()?.restart() },
    says,
    el("fieldset", {}, el("legend", {}, "How far it reaches"), radios, el("label", { class: "lasting" }, "For how long ", lasting)),
    el("div", { class: "row" }, back(), yes, el("span", { class: "hint keys" }, "or ", keys("Ctrl", "Shift", "Enter"))));
  const why = el("form", { class: "panel", hidden: true, "data-how": "deny", onsubmit: (e) => {
    e.preventDefault();
    note("Not denied yet: press Deny with the pointer, or Ctrl + Enter.");
  } },
  el("label", { for: "reason" }, "What the agent is told when you deny"), reason,
  el("div", { class: "row" }, back(), no, el("span", { class: "hint keys" }, "or ", keys("Ctrl", "Enter"))));
  const bar = el("div", { class: "row bar" },
    el("button", { type: "button", class: "approve choose", onclick: () => open("approve") }, "Approve…"),
    el("button", { type: "button", class: "deny choose", onclick: () => open("deny") }, "Deny…"));
  const box = el("section", { class: "answers", "aria-label": "Answer" }, problem, bar, choice, why);
  let busy = false;

  // tell says how far the approval would reach.
  function tell() {
    const scope = choice.elements.scope.value;
    const [, name, text] = scopes.find(([v]) => v === scope);
    setText(reach, `${name}: ${text}` + (lasting.disabled ? "." : `; ${lasting.selectedOptions[0].textContent}.`));
  }
  lasting.addEventListener("change", tell);

  // leave closes the panel. The focus goes to the heading: to no answer.
  function leave() {
    chosen()?.close();
    box.closest("article")?.querySelector("h2").focus({ preventScroll: true });
  }

  function open(how) {
    if (busy) return;
    const approves = how === "approve";
    const at = approves ? choice : why;
    choose({
      how, element: at, button: approves ? yes : no, leave,
      act() {
        const scope = choice.elements.scope.value;
        send(how, approves ? { scope, minutes: scope === "once" ? 0 : Number(lasting.value), digest: r.digest } : { reason: reason.value });
      },
      close() {
        at.hidden = true;
        bar.hidden = false;
      },
    });
    problem.hidden = bar.hidden = true;
    at.hidden = false;
    tell();
    (approves ? says : reason).focus({ preventScroll: true });
  }

  async function send(how, body) {
    if (busy) return;
    busy = true;
    leave();
    const buttons = bar.querySelectorAll("button");
    for (const b of buttons) b.disabled = true;
    try {
      await act(r, how, body);
    } catch (err) {
      problem.textContent = err.message;
      problem.hidden = false;
      for (const b of buttons) b.disabled = false;
      busy = false;
    }
  }

  why.addEventListener("keydown", (e) => {
    if (e.key !== "Escape" || e.isComposing) return;
    e.stopPropagation();
    leave();
  });
  box.answer = open;
  return box;
}

function keys(...names) {
  return names.flatMap((n, i) => [i > 0 && " + ", el("kbd", {}, n)]);
}

// detail is a request by itself.
export function detail(r, act) {
  return el("article", { "aria-labelledby": "what" },
    el("p", { class: "back" }, el("a", { href: "#requests" }, "← All requests")),
    el("h2", { id: "what", tabindex: "-1" }, el("span", { class: "agent" }, r.agent), ` asks to ${verb(r.action)} `, code(r.resource)),
    el("dl", { class: "facts" },
      r.tool && fact("With", code(r.tool)),
      fact("Asked", ago(r.created)),
      r.deadline && fact("Ends", ago(r.deadline)),
      r.cwd && fact("In", code(r.cwd)),
      r.task && fact("Its task", el("span", { class: "said", tabindex: r.task.length > 300 && "0" }, r.task)),
      fact("Request", code(r.id))),
    r.reason && el("section", {}, el("h3", {}, "Why, in the agent’s words"), el("blockquote", { class: "said", tabindex: r.reason.length > 600 && "0" }, r.reason)),
    allows(r),
    change(r.change),
    el("details", { open: !r.change || !r.change.diff },
      el("summary", {}, "Arguments, as the agent sent them"),
      el("pre", { class: "arguments", tabindex: "0", role: "region", "aria-label": "Arguments" }, r.arguments),
      r.cut && el("p", { class: "warning" }, "This is only their beginning.")),
    r.yours ? form(r, act) : outcome(r));
}
