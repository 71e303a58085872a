// Single keys, which can be switched off: to some they come by accident, or
// from speech.

import { writes } from "./deliberate.js";

const name = "pinfold.keys";
const byId = (id) => document.getElementById(id);
const places = { r: "requests", t: "agents", g: "grants", h: "history" };

function stored() {
  try {
    return localStorage.getItem(name) !== "off";
  } catch {
    return true;
  }
}

// keys listens. section returns what is shown, or null; it may have keys of its
// own.
export function keys(section) {
  const box = byId("keys-on");
  const dialog = byId("keys");
  box.checked = stored();
  box.addEventListener("change", () => {
    try {
      localStorage.setItem(name, box.checked ? "on" : "off");
    } catch {
      // It holds for as long as the page does.
    }
  });
  byId("keys-open").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.isComposing || dialog.open || !section()) return;
    if (e.key === "Escape" && writes(e.target)) {
      e.target.blur();
      return;
    }
    if (!box.checked || writes(e.target) || e.repeat) return;
    if (e.key === "?") {
      dialog.showModal();
    } else if (e.key === "/") {
      location.hash = "history";
      setTimeout(() => byId("q")?.focus());
    } else if (places[e.key]) {
      location.hash = places[e.key];
    } else if (!section().key?.(e.key)) {
      return;
    }
    e.preventDefault();
  });
}
