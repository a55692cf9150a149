import type {
  Action,
  ActionExplainer,
  ActionResult,
  ExchangeDescription,
  MessageDescription,
} from "../../action/action.ts";
import { boundValue } from "../../value/bound_value.ts";
import type { Dict } from "../../value/value.ts";
import type { Exchange, MessageView } from "../event.ts";
import { hideFields } from "../mask/add_secrets.ts";
import type { Session } from "../session.ts";

/** The data of an exchange; a step that timed out may have no result. */
export interface ExchangeData extends Pick<ActionResult, "req" | "brief"> {
  readonly res: Dict | null;
}

/** Request and response as they may be shown: without secrets, and no longer than asked for. */
export function makeExchange(
  session: Session,
  { parameters = [], responseFields = [] }: Action,
  { req, res, brief }: ExchangeData,
  explainer: ActionExplainer | undefined,
): Exchange {
  const { request, response }: ExchangeDescription = explainer?.describe?.(req, res) ?? {};
  const view = {
    ...request ? { request: viewOf(session, request) } : {},
    ...response ? { response: viewOf(session, response) } : {},
  };
  return {
    req: shown(session, hideFields(request?.kept ?? req, parameters)),
    res: res && shown(session, hideFields(response?.kept ?? res, responseFields)),
    ...brief === undefined ? {} : { brief: session.secrets.mask(brief) },
    ...Object.keys(view).length === 0 ? {} : { view },
  };
}

function viewOf(
  session: Session,
  { title, covered = [], asJson = [], asTable = [], minor = [], images = [] }: MessageDescription,
): MessageView {
  return {
    ...title === undefined ? {} : { title: String(shown(session, { title }).title) },
    ...covered.length === 0 ? {} : { covered },
    ...asJson.length === 0 ? {} : { asJson },
    ...asTable.length === 0 ? {} : { asTable },
    // A name may hold a secret, too.
    ...minor.length === 0
      ? {}
      : { minor: minor.map((path) => path.map((name) => session.secrets.mask(name))) },
    ...images.length === 0
      ? {}
      : { images: images.map(({ name, data }) => ({ name: session.secrets.mask(name), data })) },
  };
}

/** A map as it may be shown: without secrets, each field bounded. */
export function shown({ secrets, detail }: Session, message: Dict): Dict {
  return boundValue(
    message,
    detail.limit,
    (text, from, to) => secrets.mask(text, from, to),
  ) as Dict;
}
