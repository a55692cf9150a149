import { boundValue } from "../../value/bound_value.ts";
import { MASK } from "../../value/masker.ts";
import { type Dict, isDict } from "../../value/value.ts";
import type { Exchange } from "../event.ts";
import { withoutSecretHeaders } from "../mask/secrets.ts";
import type { Session } from "../session.ts";

/** Request and response as they may be shown: without secrets, and no longer than asked for. */
export function makeExchange(session: Session, req: Dict, res: Dict | null): Exchange {
  return { req: shown(session, req), res: res && shown(session, shownResponse(res)) };
}

/**
 * A response without what repeats its body: the unparsed text, the size and the digest. Of a
 * binary body these are shown instead.
 */
function shownResponse(res: Dict): Dict {
  const hidden = new Set<string>();
  if (res.rawbody !== undefined && typeof res.body === "object") hidden.add("rawbody");
  const note: Record<string, string> = {};
  if (typeof res.code === "number" && typeof res.sha256 === "string") {
    hidden.add("size");
    if (res.filepath === undefined) hidden.add("sha256");
    else note.body = `${res.size} bytes${typeOf(res)}, not shown`;
  }
  if (hidden.size === 0) return res;
  return {
    ...Object.fromEntries(Object.entries(res).filter(([key]) => !hidden.has(key))),
    ...note,
  };
}

function typeOf({ headers }: Dict): string {
  const type = isDict(headers) ? headers["Content-Type"] : undefined;
  return typeof type === "string" ? ` of ${type}` : "";
}

/** A map as it may be shown: without secrets, each field bounded. */
export function shown({ secrets, detail }: Session, message: Dict) {
  return boundValue(
    withoutSecretHeaders(message, MASK),
    detail.limit,
    (text, from, to) => secrets.mask(text, from, to),
  );
}
