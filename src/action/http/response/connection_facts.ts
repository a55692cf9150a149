import type { Dict } from "../../action.ts";
import type { Phases } from "../transport/phases.ts";
import type { Reply } from "../transport/send.ts";

/** What a response reports of its connection, and of the time that it took in milliseconds. */
export function connectionFacts(
  { version, tls }: Reply,
  phases: Phases | undefined,
  total: number,
): Dict {
  return {
    version,
    ...tls ? { tls } : {},
    ...phases ? { timing: describeTiming(phases, total) } : {},
  };
}

/** In seconds; what is in none of the phases was a wait before something was sent. */
function describeTiming(phases: Phases, total: number): Dict {
  const { dns, connect, tls, first_byte, download } = phases;
  const known = dns + connect + tls + first_byte + download;
  const all = { queue: Math.max(0, total - known), ...phases, total: Math.max(total, known) };
  return Object.fromEntries(Object.entries(all).map(([name, time]) => [name, seconds(time)]));
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1e6;
}
