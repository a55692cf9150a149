import type { Value } from "../../action/action.ts";
import { isDict } from "../../base/value/value.ts";
import {
  duration,
  either,
  integer,
  list,
  map,
  Rule,
  text,
  value,
  within,
} from "../../action/rule.ts";

/** The keys of a response. */
export const RESPONSE = {
  code: within({ min: 200, max: 599 }, integer("The status code"))
    .with({ default: "200; 204 without a body" }),
  headers: value("map", "The headers"),
  json: value("any", "The body: any value as JSON"),
  body: text("The body: text"),
  file: text("The body: a file, relative to the workflow file").with({ namesFile: "any" }),
  delay: duration("How long to wait before it is sent"),
};

const response = map(
  RESPONSE,
  "What it answers; of a list, one after the other, and the last again",
  {
    alternatives: [{ names: ["json", "body", "file"] }],
  },
);

/** The method and the path of a route: `POST /hooks/:shop`. */
export const ROUTE = /^([A-Z]+) (\/\S*)$/;

const route = map({
  on: text("The method and the path: `POST /hooks/:shop`").as((text, param) => {
    if (ROUTE.test(text)) return text;
    throw param.wrong(`invalid route "${text}"`, "write it like POST /hooks/:shop");
  }).required(),
  respond: either(response, list(response, "")),
}, "");

const listed = list(route, "What it answers to which requests: the first that fits");

/** A route as it is written: what it responds is rendered for each request. */
export interface Route {
  readonly on: string;
  readonly respond?: Value;
}

/** `routes`: what comes of their templates is known with each request. */
export const ROUTES = new Rule<readonly Route[]>(
  { ...listed.form, default: "204 for every request", rendersLater: ["request"] },
  (value, param) => {
    if (param.isEarly) listed.parse(value, param);
    // Its templates are rendered later, so that a template cannot be all of it.
    else if (!Array.isArray(value) || !value.every(isRoute)) {
      throw param.wrong(`${param.name} must be a list of maps with "on"`);
    }
    return value as unknown as readonly Route[];
  },
);

function isRoute(value: Value): boolean {
  return isDict(value) && typeof value.on === "string";
}
