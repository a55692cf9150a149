/**
 * A server that does nothing for some milliseconds (first argument) at the end of each period
 * (second argument), like a program whose memory is collected. `GET /?i=N` remembers when N was
 * answered, `GET /answers` lists that.
 *
 * @module
 */
const [stall = 500, every = 3000] = Deno.args.map(Number);
const answers: number[] = [];
const HEADERS = { "content-type": "application/json" };

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  // deno-lint-ignore no-console
  onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/`),
}, ({ url }) => {
  if (url.endsWith("/answers")) return Response.json(answers);
  const at = url.indexOf("?i=");
  if (at !== -1) answers[Number(url.slice(at + 3))] = performance.now();
  return new Response('{"ok":true}', { headers: HEADERS });
});
setInterval(() => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, stall);
}, every);
