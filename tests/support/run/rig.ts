/**
 * A server that records its requests, for tests of order and concurrency.
 *
 * @module
 */

export interface Rig {
  readonly url: string;
  /** Paths in the order in which they were asked for; `-/path` for aborted requests. */
  readonly seen: readonly string[];
  /** Resolves once the path was asked for. */
  untilSeen(path: string): Promise<void>;
}

/**
 * Passes a rig to `use` and closes it at the end. Its pages:
 *
 * - `/meet/<name>/<n>` answers when n requests wait for that name together
 * - `/flaky/<name>/<n>` answers 503 until it is asked for the n-th time
 * - `/status/<code>` answers with that code
 * - `/echo` answers with its request as JSON
 * - `/hang` never answers
 * - everything else answers `{"path": …}`
 */
export async function withRig<T>(use: (rig: Rig) => Promise<T>): Promise<T> {
  const seen: string[] = [];
  const watchers: { path: string; resolve: () => void }[] = [];
  const meetings = new Map<string, (() => void)[]>();
  const counts = new Map<string, number>();

  function note(path: string): void {
    seen.push(path);
    for (const watcher of watchers) if (watcher.path === path) watcher.resolve();
  }

  function meet(name: string, size: number): Promise<void> {
    const waiting = meetings.get(name) ?? [];
    meetings.set(name, waiting);
    return new Promise((resolve) => {
      waiting.push(resolve);
      if (waiting.length === size) { for (const go of waiting.splice(0)) go(); }
    });
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    note(pathname);
    const [, page, name = "", number = ""] = pathname.split("/");
    switch (page) {
      case "meet":
        await meet(name, Number(number));
        return Response.json({ path: pathname });
      case "flaky": {
        const count = (counts.get(name) ?? 0) + 1;
        counts.set(name, count);
        return Response.json({ count }, { status: count < Number(number) ? 503 : 200 });
      }
      case "status":
        return Response.json({ path: pathname }, { status: Number(name) });
      case "echo":
        return Response.json({
          method: request.method,
          url: request.url,
          headers: Object.fromEntries(request.headers),
          body: await request.text(),
        });
      case "hang":
        request.signal.addEventListener("abort", () => note(`-${pathname}`));
        return await new Promise(() => {});
      default:
        return Response.json({ path: pathname });
    }
  }

  const stop = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen: () => {} },
    answer,
  );
  try {
    return await use({
      url: `http://127.0.0.1:${server.addr.port}`,
      seen,
      untilSeen(path) {
        if (seen.includes(path)) return Promise.resolve();
        return new Promise((resolve, reject) => {
          const missed = () => reject(new Error(`waited in vain for ${path}; seen: ${seen}`));
          const patience = setTimeout(missed, 20_000);
          watchers.push({ path, resolve: () => (clearTimeout(patience), resolve()) });
        });
      },
    });
  } finally {
    stop.abort();
    await server.finished.catch(() => {});
  }
}
