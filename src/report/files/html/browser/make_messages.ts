import type { Exchange, MessageView } from "../../../../run/event.ts";
import type { Value } from "../../../../base/value/value.ts";
import type { MakeCopyButton } from "./copy.ts";
import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";
import type { Values } from "./values.ts";

/** Shows a request and its response; an empty one is left out. */
export type ShowExchange = (exchange: Exchange) => readonly PageElement[];

/** A way to show requests and responses. */
export function makeMessages(
  el: MakeElement,
  { fields }: Values,
  copyButton: MakeCopyButton,
): ShowExchange {
  const fieldOf = (message: Value, name: string): Value | undefined =>
    typeof message === "object" && message !== null && !Array.isArray(message)
      ? (message as Readonly<Record<string, Value>>)[name]
      : undefined;

  const isEmpty = (value: Value) =>
    value === null || typeof value === "object" && Object.keys(value).length === 0;

  const copyText = (label: string, text: Value | undefined) => {
    const isThere = text !== undefined && text !== null && text !== "";
    if (!isThere) return [];
    const copied = typeof text === "string" ? text : JSON.stringify(text, undefined, 2);
    return [copyButton(label, () => copied)];
  };

  const message = (
    name: string,
    value: Value,
    { title, covered = [], images = [], asTable = [] }: MessageView = {},
    ...buttons: readonly PageElement[]
  ) => {
    if (isEmpty(value)) return [];
    const head = el("summary", {}, el("h3", {}, name));
    const part = el("details", { open: "", class: "part" }, head);
    if (title !== undefined) part.append(el("p", { class: "line" }, el("code", {}, title)));
    part.append(
      ...images.map(({ name, data }) =>
        el("figure", {}, el("figcaption", {}, name), el("img", { src: data, alt: name }))
      ),
      fields(value, covered, asTable),
    );
    if (buttons.length > 0) part.append(el("p", { class: "buttons" }, ...buttons));
    return [part];
  };

  return ({ req, res, command, view }) => [
    ...message(
      "Request",
      req,
      view?.request,
      ...copyText(command?.startsWith("curl ") ? "Copy as cURL" : "Copy command", command),
      ...copyText("Copy URL", fieldOf(req, "url")),
      ...copyText("Copy body", fieldOf(req, "body")),
    ),
    ...message(
      "Response",
      res,
      view?.response,
      ...copyText("Copy body", fieldOf(res, "body")),
      ...copyText("Copy output", fieldOf(res, "stdout")),
    ),
  ];
}
