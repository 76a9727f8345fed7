// The page's side of the worker: ask(name, query) returns a promise of the engine's answer.

// `packed` is { engine, text }, each compressed and in base 64.
export function startClient(workerSource, packed) {
  const url = URL.createObjectURL(new Blob([workerSource], { type: "text/javascript" }));
  const worker = new Worker(url);
  const waiting = new Map();
  let last = 0;

  worker.onmessage = ({ data }) => {
    const { resolve, reject } = waiting.get(data.id);
    waiting.delete(data.id);
    if (data.error === undefined) resolve(data.result);
    else reject(new Error(data.error));
  };

  const ask = (name, query) => new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject });
    worker.postMessage({ id: last, name, query });
  });

  const bytes = letters => Uint8Array.from(atob(letters.trim()), letter => letter.charCodeAt(0));
  return { ask, started: ask("start", { engine: bytes(packed.engine), text: bytes(packed.text) }) };
}

// Runs work(state) for the newest state only: while one run is under way, later states replace one another. Errors go to `fail`.
export function newestOnly(work, fail) {
  let running = false;
  let next = null;
  return async state => {
    next = { state };
    if (running) return;
    running = true;
    while (next) {
      const { state: now } = next;
      next = null;
      await work(now).catch(fail);
    }
    running = false;
  };
}
