import { decodePercents } from "../../secrets/secrets.ts";
/** The names of the status codes of gRPC, by number. */
const NAMES = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
] as const;

type StatusName = typeof NAMES[number];

/** The status of a finished call. */
export interface CallStatus {
  readonly code: number;
  readonly message: string;
  /** `google.rpc.Status` with the details, where the server sent them. */
  readonly details?: Uint8Array;
}

/** The name of a status code; of an unknown one, its number. */
export function nameOfStatus(code: number): string {
  return NAMES[code] ?? String(code);
}

/** A status that the client makes itself. */
export function makeStatus(name: StatusName, message: string): CallStatus {
  return { code: NAMES.indexOf(name), message };
}

/** The status in the last headers of a response; undefined where there is none. */
export function readStatus(header: (name: string) => string | undefined): CallStatus | undefined {
  const code = Number(header("grpc-status") || NaN);
  if (!Number.isInteger(code)) return undefined;
  const details = header("grpc-status-details-bin");
  return {
    code,
    message: decodePercents(header("grpc-message") ?? ""),
    ...details === undefined ? {} : { details: fromBase64(details) },
  };
}

/** The status of a response without one, which a proxy may have sent. */
export function statusOfHttp(code: number, type: string | undefined): CallStatus {
  const names: Readonly<Record<number, StatusName>> = {
    400: "INTERNAL",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "UNIMPLEMENTED",
    429: "UNAVAILABLE",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "UNAVAILABLE",
  };
  const what = type === undefined ? "no content type" : `the content type ${type}`;
  const message = `the response is not one of gRPC: HTTP ${code} with ${what}`;
  return makeStatus(names[code] ?? "UNKNOWN", message);
}

/** The status of a call that the server reset with an error code of HTTP/2. */
export function statusOfReset(code: number): CallStatus {
  const names: Readonly<Record<number, StatusName>> = {
    7: "UNAVAILABLE",
    8: "CANCELLED",
    11: "RESOURCE_EXHAUSTED",
    12: "PERMISSION_DENIED",
  };
  const message = `the server reset the call (HTTP/2 error code ${code}) without a status`;
  return makeStatus(names[code] ?? "INTERNAL", message);
}

/** Base64, with or without padding; nothing where it is not. */
function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.fromBase64(text.replace(/=+$/, ""));
  } catch {
    return new Uint8Array();
  }
}
