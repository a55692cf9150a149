import { canonicalName } from "../../action/http/request/http_syntax.ts";
import { type Check, keyProblem } from "../check.ts";

/** Headers of a response that are read by a name under which none can be. */
export const headerName: Check = {
  codes: [
    {
      code: "header-name",
      severity: "warning",
      summary: "A header is read by a name that is not canonical, and so is always nil.",
    },
  ],
  *find({ readings }) {
    for (const reading of readings) {
      const { root, keys: [headers, header], step } = reading;
      if (root !== "res" || headers?.name !== "headers" || !header) continue;
      if (step?.draft.action?.name !== "http") continue;
      const name = canonicalName(header.name);
      if (name === header.name) continue;
      const written = /^\w+$/.test(name) ? `res.headers.${name}` : `res.headers["${name}"]`;
      yield keyProblem(reading, 1, {
        severity: "warning",
        code: "header-name",
        message: `"${header.name}" is always nil: headers are kept by canonical names`,
        hint: `write ${written}`,
      });
    }
  },
};
