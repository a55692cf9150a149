import type { ActionExplainer } from "../action.ts";

/** Shows a command and its output in reports. */
export const shellExplainer: ActionExplainer = {
  describe: (req, res) => ({
    ...req.background === false ? { request: { minor: [["background"]] } } : {},
    ...res
      ? {
        response: {
          minor: [
            ...res.pid === undefined ? [] : [["pid"]],
            ...res.truncated === false ? [["truncated"], ["stdout_bytes"], ["stderr_bytes"]] : [],
          ],
        },
      }
      : {},
  }),
};
