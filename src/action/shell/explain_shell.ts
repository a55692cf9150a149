import type { ActionExplainer } from "../action.ts";

/** How reports show a command and its output. */
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
