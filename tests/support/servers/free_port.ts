/** A port of 127.0.0.1 that nothing listens at. */
export function freePort(): number {
  return freePorts(1)[0]!;
}

/** So many ports of 127.0.0.1 that nothing listens at. */
export function freePorts(count: number): number[] {
  const listeners = Array.from(
    { length: count },
    () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  );
  const ports = listeners.map(({ addr }) => addr.port);
  for (const listener of listeners) listener.close();
  return ports;
}
