// Elements are made here and nowhere else. A string is text: nothing in this
// page makes markup of one.

// el makes an element. attrs starting with "on" are listeners; false and null
// leave an attribute out. Children are nodes, strings, or null for nothing.
export function el(name, attrs, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attrs || {})) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else e.setAttribute(key, value === true ? "" : value);
  }
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// setText changes a text only where it differs, so that a selection stays.
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

// sync makes the children of parent those of items, in order. What is there
// already stays the same element, so that focus and what was opened stay.
export function sync(parent, items, keyOf, make, update) {
  const old = new Map([...parent.children].map((c) => [c.dataset.key, c]));
  let after = null;
  for (const item of items) {
    const key = keyOf(item);
    let child = old.get(key);
    if (child) {
      old.delete(key);
    } else {
      child = make(item);
      child.dataset.key = key;
    }
    const place = after ? after.nextSibling : parent.firstChild;
    if (child !== place) parent.insertBefore(child, place);
    if (update) update(child, item);
    after = child;
  }
  for (const child of old.values()) child.remove();
}

// say has a screen reader say something; alarm does so at once.
export function say(text) {
  document.getElementById("say").textContent = text;
}

export function alarm(text) {
  document.getElementById("alarm").textContent = text;
}

const steps = [[60, "s"], [60, "min"], [48, "h"], [Infinity, "d"]];

// span is a length of time in its largest unit.
function span(ms) {
  let n = Math.max(0, Math.floor(ms / 1000));
  for (const [size, unit] of steps) {
    if (n < size) return `${n} ${unit}`;
    n = Math.floor(n / (unit === "h" ? 24 : 60));
  }
}

function agoText(e) {
  const d = Date.now() - new Date(e.dateTime);
  return d >= 0 ? span(d) + " ago" : "in " + span(-d);
}

// ago is a time as how long ago it was, or will be, which goes on by itself.
export function ago(iso) {
  const e = el("time", { datetime: iso, title: new Date(iso).toLocaleString(), "data-ago": true });
  e.textContent = agoText(e);
  return e;
}

setInterval(() => {
  for (const e of document.querySelectorAll("time[data-ago]")) setText(e, agoText(e));
}, 5000);

// clock is a time as date and time of day.
export function clock(iso) {
  return el("time", { datetime: iso }, new Date(iso).toLocaleString());
}

const verbs = {
  "fs.read": "read", "fs.list": "list", "fs.write": "write", "fs.create": "create", "fs.delete": "delete",
  "fs.move": "move", "fs.meta": "change the attributes of", "tool.use": "use the tool",
};

// verb is an action in words.
export function verb(action) {
  return verbs[action] || action;
}

// code is a path or an id: in its own font, left to right whatever is in it.
export function code(text) {
  return el("code", {}, text);
}
