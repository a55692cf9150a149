import type { ActionExplainer, Dict, MessageDescription } from "../../action/action.ts";

/** Shows what was sent and received in reports. */
export const sseExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: `${req.method} ${req.url}`,
      covered: ["method", "url", ...req.body === "" ? ["body"] : []],
      minor: [["headers"]],
    },
    ...res ? { response: describeResponse(res) } : {},
  }),
};

function describeResponse(res: Dict): MessageDescription {
  const { status, redirects, cookies } = res;
  const hidden = [
    "event",
    ...Array.isArray(redirects) && redirects.length === 0 ? ["redirects"] : [],
    ...Array.isArray(cookies) && cookies.length === 0 ? ["cookies"] : [],
  ];
  return {
    kept: Object.fromEntries(Object.entries(res).filter(([name]) => !hidden.includes(name))),
    ...typeof status === "string" ? { title: status, covered: ["code", "status"] } : {},
    minor: [["headers"], ["tls"], ["url"]],
  };
}
