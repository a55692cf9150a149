import type { Worker } from "node:worker_threads";

/** The built-in module, which only runs with workers load. */
export type Threads = typeof import("node:worker_threads");

/**
 * Starts a worker that calls what a module exports under a name, with its port and these arguments.
 * In a bundle, the module is the whole program.
 */
export function startWorker(
  threads: Threads,
  module: string,
  name: string,
  ...args: readonly unknown[]
): Worker {
  const [from, ...texts] = [module, ...args].map((part) => JSON.stringify(part));
  const code = `const { parentPort } = require("node:worker_threads");
    import(${from}).then(({ ${name} }) => ${name}(${["parentPort", ...texts].join(", ")}))
      .catch(({ message }) => {
        const json = JSON.stringify([{ message }]);
        parentPort.postMessage({ id: 0, method: "fail", json, type: "broken", message });
      });`;
  return new threads.Worker(code, { eval: true });
}
