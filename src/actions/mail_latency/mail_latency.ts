import type { Action } from "../../action/action.ts";

/** Measures how long mails took, from the files of a mailbox. */
export const mailLatency: Action = {
  name: "mail-latency",
  summary: "Measures how long mails took, from headers of files in a mailbox",
  parameters: [
    {
      name: "mail_dir",
      type: "string",
      summary: "The directory of the mails, such as a Maildir, relative to the workflow file",
      required: true,
    },
    {
      name: "output_dir",
      type: "string",
      summary: "Where the CSV file goes, relative to the current directory",
      required: true,
    },
    {
      name: "zone",
      type: "string",
      summary: "The time zone of the times in the CSV file: `Europe/Zurich`",
      default: "UTC",
    },
  ],
  responseFields: [
    { name: "status", type: "int" },
    { name: "output_file", type: "string" },
    { name: "count", type: "int" },
    { name: "skipped", type: "int" },
    { name: "mails", type: "array" },
    { name: "latency", type: "map" },
  ],
  exampleTest: "res.latency.max < 60",
  load: async () => (await import("./run_mail_latency.ts")).runMailLatency,
};
