// The stream of events, each of which says that it is worth looking again. It
// is opened anew for as long as the page is there: a broker may be restarted.

const retryAfter = 1000;

// follow calls changed at each event, and state with "live" or "away".
export function follow(changed, state) {
  let source = null;
  let timer = 0;
  function open() {
    source = new EventSource("/api/events");
    source.addEventListener("here", () => {
      state("live");
      changed();
    });
    source.addEventListener("change", changed);
    source.addEventListener("error", () => {
      state("away");
      if (source.readyState === EventSource.CLOSED) {
        // An answer that was no stream: the server is starting, or the session
        // is over, which looking tells.
        timer = setTimeout(open, retryAfter);
        changed();
      }
    });
  }
  open();
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

// single returns a function that runs look, once at a time: who calls while it
// runs has it run again afterwards.
export function single(look, apart) {
  let running = false;
  let again = false;
  return async function run() {
    if (running) {
      again = true;
      return;
    }
    running = true;
    do {
      again = false;
      await look();
      await new Promise((done) => setTimeout(done, apart));
    } while (again);
    running = false;
  };
}
