// The calls of the page. Each needs the cookie, which the browser sends and no
// script sees, and the key, which this origin keeps.

const keyName = "pinfold.key";
let memory = null; // where the browser keeps nothing

function key() {
  try {
    return localStorage.getItem(keyName) || memory;
  } catch {
    return memory;
  }
}

function keep(value) {
  memory = value;
  try {
    if (value === null) localStorage.removeItem(keyName);
    else localStorage.setItem(keyName, value);
  } catch {
    // It is in memory then, and is gone with the page.
  }
}

// Refused is an answer of the server that is no success.
export class Refused extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// Away is that nobody answers.
export class Away extends Error {}

async function send(method, path, body) {
  const headers = {};
  if (key()) headers["X-Pinfold-Key"] = key();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch("/api/" + path, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin", cache: "no-store", redirect: "error", referrerPolicy: "no-referrer",
    });
  } catch {
    throw new Away("pinfold does not answer: it may be starting again");
  }
  let answer;
  try {
    answer = await response.json();
  } catch {
    throw new Away("pinfold broke off");
  }
  if (!response.ok) throw new Refused(response.status, answer.code || "", answer.message || response.statusText);
  return answer;
}

export const get = (path) => send("GET", path);
export const post = (path, body) => send("POST", path, body || {});

// enter exchanges a link's token for a session.
export async function enter(token) {
  keep((await post("enter", { token })).key);
}

// leave ends the session.
export async function leave() {
  try {
    await post("leave");
  } finally {
    keep(null);
  }
}
