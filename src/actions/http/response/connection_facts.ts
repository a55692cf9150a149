import type { Dict } from "../../../action/action.ts";
import type { Phases } from "../transport/model.ts";
import type { RawResponse } from "../transport/model.ts";

/** The fields of `res` about the connection, and about the time in milliseconds. */
export function connectionFacts(
  { version, tls }: RawResponse,
  phases: Phases | undefined,
  total: number,
): Dict {
  return {
    version,
    ...tls ? { tls } : {},
    ...phases ? { timing: describeTiming(phases, total) } : {},
  };
}

/** In seconds; the rest of the time was a wait before something was sent. */
function describeTiming(phases: Phases, total: number): Dict {
  const { dns, connect, tls, first_byte, download } = phases;
  const known = dns + connect + tls + first_byte + download;
  return {
    queue: seconds(Math.max(0, total - known)),
    dns: seconds(dns),
    connect: seconds(connect),
    tls: seconds(tls),
    first_byte: seconds(first_byte),
    download: seconds(download),
    total: seconds(Math.max(total, known)),
  };
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000) / 1e6;
}
