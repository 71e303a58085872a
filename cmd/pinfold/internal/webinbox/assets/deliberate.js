// What counts as an answer. Typing never does: an answer is a press of the mouse,
// pen or finger on the control that gives it, or a chord with Ctrl that no text
// contains, after a pause in the typing. So neither Enter nor Space on whatever
// has the focus, nor text that was meant for another place, answers anything.

// pause is how long no key may have been pressed, in milliseconds, and how long
// what is answered must have been shown. Event times count: what waited in a
// queue is as old as it was when it was typed.
export const pause = 600;

const modifiers = ["Alt", "AltGraph", "CapsLock", "Control", "Meta", "Shift"];
const moves = ["Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"];
let lastKey = -Infinity; // of any kind but a modifier or a chord
let lastText = -Infinity; // of those that write or press
let burst = ""; // the key that began what is being typed outside of a field
let panel = null; // the answer that is being given; see choose

// writes says whether keys are text there.
export const writes = (e) => e.matches("input:not([type=radio]):not([type=checkbox]), textarea, select");

const isText = (e) => e.key.length === 1 || ["Process", "Dead", "Unidentified"].includes(e.key);

// chord is which answer a key gives: "approve", "deny", or "" for none.
function chord(e) {
  if (e.key !== "Enter" || !e.ctrlKey || e.altKey || e.metaKey || e.isComposing) return "";
  return e.shiftKey ? "approve" : "deny";
}

// swallow takes a key that is part of a burst of typing outside of a field: only
// the first key of a burst, and its repetition, do anything.
function swallow(e) {
  const goesOn = e.timeStamp - lastText < pause;
  if (modifiers.includes(e.key) || moves.includes(e.key) || e.key === "Escape" || e.ctrlKey || e.metaKey || e.altKey) return;
  lastText = e.timeStamp;
  if (!goesOn) burst = "";
  if (writes(e.target)) {
    burst = "field";
    return;
  }
  if (goesOn && burst !== "" && burst !== e.key) {
    burst = "none"; // no key is called that: all of it is ignored
    e.preventDefault();
    e.stopImmediatePropagation();
    note("Typing outside of a field does nothing. Pause, then press a key.", pause);
  } else if (isText(e)) {
    burst = e.key;
  }
}

let hide = 0;

// note says for a while why a key or a press did nothing.
export function note(text, ms = 4000) {
  const e = document.getElementById("ignored");
  e.textContent = text;
  e.hidden = false;
  clearTimeout(hide);
  hide = setTimeout(() => { e.hidden = true; }, ms);
}

// takesBack says whether a key ends an approval that was chosen: all that writes
// does, but for what changes how far it reaches.
function takesBack(e, element) {
  if (["Escape", "Backspace", "Delete"].includes(e.key)) return true;
  if (e.ctrlKey || e.metaKey || e.altKey) return false;
  if (e.key === "Enter") return !(element.contains(e.target) && e.target.matches("button"));
  if (e.key === " ") return !(element.contains(e.target) && e.target.matches("input, select, button"));
  return isText(e) && !(e.key >= "1" && e.key <= "5");
}

// deliberate has the page listen. It comes before all other listeners for keys.
export function deliberate() {
  window.addEventListener("keydown", (e) => {
    const gives = panel ? chord(e) : "";
    if (gives) {
      e.preventDefault();
      e.stopImmediatePropagation();
      if (e.isTrusted && !e.repeat) panel?.chord(gives, e);
      return;
    }
    if (!modifiers.includes(e.key)) {
      lastKey = e.timeStamp;
      panel?.restart();
    }
    if (panel?.how === "approve" && takesBack(e, panel.element)) panel.leave();
    swallow(e);
  }, true);
  // What brings the window to the front is not meant for what it shows.
  window.addEventListener("focus", () => panel?.restart());
  document.addEventListener("visibilitychange", () => panel?.restart());
}

// choose opens the panel of an answer: "approve" or "deny". Its button gives the
// answer where it is pressed, and act is then called once for each press. A panel
// that was open before is closed. close is called when it closes, and leave where
// a key takes it back.
export function choose({ how, element, button, act, close, leave }) {
  panel?.close();
  let since = -Infinity; // it has been shown, as it is
  let timer = 0;
  let down = null; // when a press of the pointer began
  const restart = () => {
    since = performance.now();
    down = null;
    delete element.dataset.ready;
    clearTimeout(timer);
    timer = setTimeout(() => { element.dataset.ready = "true"; }, pause);
  };
  // A reason is typed before it is sent: only an approval needs the pause.
  const settled = (at, fromKeys) => how === "deny" && fromKeys || at - since >= pause && at - lastKey >= pause;
  const early = () => note("Not answered: wait a moment after typing, then once more.");
  const mine = {
    how, element, restart, leave,
    chord(gives, e) {
      if (gives !== how || !element.isConnected) return;
      if (how === "approve" && writes(e.target) || !settled(e.timeStamp, true)) early();
      else act();
    },
    close() {
      if (panel === mine) panel = null;
      clearTimeout(timer);
      stop.abort();
      close();
    },
  };
  const stop = new AbortController();
  button.addEventListener("pointerdown", (e) => {
    down = e.isTrusted && e.isPrimary && e.button === 0 ? e.timeStamp : null;
  }, { signal: stop.signal });
  button.addEventListener("click", (e) => {
    const began = down;
    down = null;
    if (!e.isTrusted || e.detail !== 1 || began === null) note(`Not answered: press it with the pointer, or ${how === "approve" ? "Ctrl + Shift + Enter" : "Ctrl + Enter"}.`);
    else if (!settled(began, false)) early();
    else act();
  }, { signal: stop.signal });
  panel = mine;
  restart();
  return mine;
}

// chosen is the panel that is open; null for none.
export const chosen = () => panel;
