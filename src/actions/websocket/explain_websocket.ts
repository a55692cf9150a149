import type { ActionExplainer, Dict } from "../../action/action.ts";
import { closeWords } from "./close_words.ts";

/** Shows what was sent and received in reports. */
export const websocketExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: `WebSocket ${req.url}`,
      covered: ["url"],
      minor: [["headers"]],
    },
    ...res ? { response: describeResponse(res) } : {},
  }),
  testHint: (parts) =>
    parts.includes("res.body")
      ? "res.message is the last message, res.messages has all of them"
      : undefined,
};

function describeResponse(res: Dict) {
  const { redirects, cookies, subprotocol, close_code: code, close_reason: reason } = res;
  const hidden = [
    "message",
    ...isEmpty(redirects) ? ["redirects"] : [],
    ...isEmpty(cookies) ? ["cookies"] : [],
    ...subprotocol === "" ? ["subprotocol"] : [],
  ];
  return {
    kept: Object.fromEntries(Object.entries(res).filter(([name]) => !hidden.includes(name))),
    ...typeof code === "number" ? { title: `closed: ${closeWords(code, String(reason))}` } : {},
    covered: ["close_code", "close_reason", ...res.code === 101 ? ["code"] : []],
    minor: [["headers"], ["tls"], ["url"]],
  };
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
