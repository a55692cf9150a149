import type { ActionExplainer, Dict } from "../../action/action.ts";

/** Shows statements, and the rows that they returned, in reports. */
export const dbExplainer: ActionExplainer = {
  describe: (req, res) => ({
    request: {
      title: `${req.driver} ${req.dsn}`,
      covered: ["driver", "dsn"],
      // Parameters that are null are shown in JSON.
      asJson: ["params"],
    },
    ...res
      ? {
        response: {
          title: titleOf(res),
          covered: [
            ...["code", "rows_affected", "error", "error_code"],
            // They are the head of the table.
            ...isEmpty(res.rows) ? ["rows"] : ["columns"],
          ],
          asTable: ["rows"],
          minor: [
            ...res.truncated === false ? [["truncated"]] : [],
            ...isEmpty(res.results) ? [["results"]] : [],
          ],
        },
      }
      : {},
  }),
  testHint: (parts) =>
    parts.includes("status") || parts.includes("res.code")
      ? "status is 1 if the database refused a statement; res.error and res.error_code say why"
      : undefined,
};

function titleOf({ error, error_code: code, rows_affected: affected }: Dict): string {
  if (error !== "") return `${code}: ${error}`;
  return affected === 1 ? "1 row" : `${affected} rows`;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
