import { boundValue } from "../../value/bound_value.ts";
import { MASK } from "../../value/masker.ts";
import type { Dict } from "../../value/value.ts";
import type { Exchange } from "../event.ts";
import { withoutSecretHeaders } from "../mask/secrets.ts";
import type { Session } from "../session.ts";

/** Request and response as they may be shown: without secrets, and no longer than asked for. */
export function makeExchange(session: Session, req: Dict, res: Dict | null): Exchange {
  return { req: shown(session, req), res: res && shown(session, withoutRawBody(res)) };
}

/** The unparsed text of a body says once more what the parsed one says. */
function withoutRawBody(res: Dict): Dict {
  if (res.rawbody === undefined || typeof res.body !== "object") return res;
  const { rawbody: _, ...rest } = res;
  return rest;
}

/** A map as it may be shown: without secrets, each field bounded. */
export function shown({ secrets, detail }: Session, message: Dict) {
  return boundValue(
    withoutSecretHeaders(message, MASK),
    detail.limit,
    (text, from, to) => secrets.mask(text, from, to),
  );
}
