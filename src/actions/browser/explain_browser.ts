import { isDict } from "../../base/value/value.ts";
import type { ActionExplainer, Dict, Value } from "../../action/action.ts";

/** Shows the actions in a page, and its pictures, in reports. */
export const browserExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: { kept: { ...req, actions: linesOf(req, res) } },
    ...res ? { response: describeResponse(res) } : {},
  }),
};

/** A line for each action, with the time that it took: `1. click "#save" (40 ms)`. */
function linesOf({ actions }: Dict, res: Dict | null): Value {
  if (!Array.isArray(actions)) return null;
  const times = Array.isArray(res?.timing) ? res.timing : [];
  return actions.map((one, index) => {
    const seconds = times[index];
    const time = typeof seconds === "number" ? ` (${Math.round(seconds * 1000)} ms)` : "";
    return `${index + 1}. ${isDict(one) ? one.does : one}${time}`;
  }).join("\n");
}

function describeResponse(res: Dict) {
  const { screenshots, timing: _timing, ...kept } = res;
  const images = isDict(screenshots)
    ? Object.entries(screenshots).map(([name, data]) => ({ name, data: String(data) }))
    : [];
  return { kept, ...images.length === 0 ? {} : { images } };
}
