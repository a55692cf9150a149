import type { Worker } from "node:worker_threads";

/** The built-in module, which only runs with workers load. */
export type Threads = typeof import("node:worker_threads");

/**
 * Starts a worker that calls what a module exports under a name, with its port and these arguments.
 * In a bundle, the module is the whole program. What is sent before that function listens is kept
 * for it, since Deno drops messages that nobody listens for, and a module may take a while to load.
 */
export function startWorker(
  threads: Threads,
  module: string,
  name: string,
  ...args: readonly unknown[]
): Worker {
  const [from, ...texts] = [module, ...args].map((part) => JSON.stringify(part));
  const code = `const { parentPort } = require("node:worker_threads");
    const early = [];
    const keep = (message) => early.push(message);
    parentPort.on("message", keep);
    import(${from}).then(({ ${name} }) => {
      ${name}(${["parentPort", ...texts].join(", ")});
      parentPort.off("message", keep);
      for (const data of early) dispatchEvent(new MessageEvent("message", { data }));
    })
      .catch(({ message }) => {
        const json = JSON.stringify([{ message }]);
        parentPort.postMessage({ id: 0, method: "fail", json, type: "broken", message });
      });`;
  return new threads.Worker(code, { eval: true });
}
