/** The meaning of the codes by which a WebSocket is closed. */
const MEANINGS: Readonly<Record<number, string>> = {
  1000: "normal closure",
  1001: "going away",
  1002: "protocol error",
  1003: "unsupported data",
  1005: "without a code",
  1006: "connection lost",
  1007: "invalid data",
  1008: "policy violation",
  1009: "message too big",
  1010: "extension required",
  1011: "internal error of the server",
  1012: "service restart",
  1013: "try again later",
  1014: "bad gateway",
};

/** Why a WebSocket was closed, with its code: `1008 policy violation: not signed in`. */
export function closeText(code: number, reason: string): string {
  const meaning = MEANINGS[code];
  const text = meaning === undefined ? String(code) : `${code} ${meaning}`;
  return reason === "" ? text : `${text}: ${reason}`;
}
