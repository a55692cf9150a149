import { countOf } from "../../base/text/count_of.ts";
import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import { filesBelow } from "../../host/walk_directories.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { action } from "../../action/make_action.ts";
import { type Param, text } from "../../action/rule.ts";
import { fileProblem, writeStepFile } from "../../action/step_file.ts";

/** Measures how long mails took, from the files of a mailbox. */
export const mailLatency = action({
  name: "mail-latency",
  summary: "Measures how long mails took, from headers of files in a mailbox",
  params: {
    mail_dir: text(
      "The directory of the mails, such as a Maildir, relative to the workflow file",
    ).as(readPath).required(),
    output_dir: text("Where the CSV file goes, relative to the current directory").required(),
    zone: text("The time zone of the times in the CSV file: `Europe/Zurich`").as(formatTime)
      .with({ default: "UTC" }),
  },
  res: {
    status: { type: "int", summary: "always 0" },
    output_file: { type: "string", summary: "the path of the CSV file" },
    count: { type: "int", summary: "how many mails were measured" },
    skipped: { type: "int", summary: "how many files are not delivered mails" },
    mails: { type: "array", summary: "the data of the CSV file, mail by mail" },
    latency: {
      type: "map",
      summary: "`min`, `mean` and `max` of the times from sending to receiving",
    },
  },
  usage: "with: { mail_dir: /home/ann/Maildir, output_dir: reports }",
  example: "res.latency.max < 60",
  target: ({ mail_dir }) => ({
    product: "directory",
    file: mail_dir,
    shown: mail_dir,
    parameter: "mail_dir",
    access: ["read"],
  }),
  /** Reads the mails and writes a CSV file, sorted by when they were sent. */
  async run(_, { mail_dir, output_dir, zone: format = formatTime("UTC") }, { context }, raw) {
    const root = await context.resolvePath(mail_dir);
    const { mails, skipped } = await readMails(root, context);
    const sent = minimum(mails.map((mail) => mail.sent));
    const received = minimum(mails.map((mail) => mail.lastReceived));
    const rows = mails.toSorted((one, other) => one.sent - other.sent).map((mail) => ({
      sent_offset: seconds(mail.sent - sent),
      received_offset: seconds(mail.lastReceived - received),
      sent: format(mail.sent),
      last_received: format(mail.lastReceived),
      end_to_end: seconds(mail.lastReceived - mail.sent),
      first_received: format(mail.firstReceived),
      relay: seconds(mail.lastReceived - mail.firstReceived),
      return_path: mail.returnPath,
      file: mail.path,
    }));
    const csv = [COLUMNS, ...rows.map((row) => Object.values(row))]
      .map((cells) => `${cells.map(cellOf).join(",")}\n`).join("");
    const latencies = rows.map((row) => row.end_to_end);
    return {
      req: { ...raw },
      res: {
        status: 0,
        output_file: await write(output_dir, csv, context),
        count: rows.length,
        skipped,
        mails: rows,
        latency: {
          min: minimum(latencies),
          mean: latencies.reduce((sum, one) => sum + one, 0) / latencies.length,
          max: -minimum(latencies.map((one) => -one)),
        },
      },
      brief: countOf(rows.length, "mail"),
    };
  },
});

const COLUMNS = [
  ...["Sent Time Offset (sec)", "Received Time Offset (sec)", "Sent Time", "Last Received Time"],
  ...["End-to-End Latency (sec)", "First Received Time", "Relay Latency (sec)", "Return Path"],
  "File Path",
];

function readPath(path: string, param: Param): string {
  if (path !== "") return path;
  throw param.wrong(`${param.name} is empty`);
}

function formatTime(zone: string, param?: Param): (time: number) => string {
  try {
    const format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      dateStyle: "short",
      timeStyle: "medium",
    });
    return (time) => format.format(time);
  } catch (error) {
    throw param?.wrong(
      `unknown time zone ${JSON.stringify(zone)}`,
      "write the name of a place: Europe/Zurich, or UTC",
    ) ?? error;
  }
}

interface Measured extends MailTimes {
  /** Relative to the directory. */
  readonly path: string;
}

async function readMails(
  root: string,
  { host: { files }, signal }: ActionContext,
): Promise<{ mails: readonly Measured[]; skipped: number }> {
  const parameter = "mail_dir";
  // No file has a name with this character in it, which the runtime refuses.
  if (root.includes("\0") || await files.list(root) === undefined) {
    throw new StepError(
      `cannot read the directory "${root}": there is no such directory (ENOENT)`,
      "the path is relative to the workflow file",
      { parameter },
    );
  }
  const mails: Measured[] = [];
  let skipped = 0;
  for (const path of await filesBelow(root, files, () => true)) {
    if (signal.aborted) throw signal.reason;
    const bytes = await files.read(path).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) {
        throw fileProblem(error, { path, what: "the mail", parameter }, path);
      }
      throw new StepError(
        `cannot read the mail "${path}": it has gone since the directory was read (ENOENT)`,
        "a mail server may have moved it: measure a copy of the directory",
      );
    });
    const times = readTimes(new TextDecoder().decode(bytes), path);
    if (times) mails.push({ ...times, path: relative(root, path) });
    else skipped++;
  }
  if (mails.length > 0) return { mails, skipped };
  throw new StepError(
    `there are no delivered mails in "${root}"`,
    "a delivered mail begins with the header Return-Path or Delivered-To",
    { parameter },
  );
}

async function write(outputDir: string, csv: string, context: ActionContext): Promise<string> {
  const { files, clock } = context.host;
  const time = new Date(clock.now()).toISOString();
  const stamp = time.slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  const start = `${resolve(files.workingDirectory(), outputDir)}/mail-latency.${stamp}`;
  let path = `${start}.csv`;
  // A directory that cannot be read cannot be written either; writing says why.
  for (let number = 2; await files.isFile(path).catch(() => false); number++) {
    path = `${start}-${number}.csv`;
  }
  const file = { path, what: "the results", parameter: "output_dir" };
  return await writeStepFile(file, new TextEncoder().encode(csv), context);
}

/** The minimum of any number of numbers; `Math.min()` takes a limited number of arguments. */
function minimum(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other), Infinity);
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000);
}

function cellOf(cell: string | number): string {
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** When a mail was sent and received, in milliseconds, and by whom. */
interface MailTimes {
  readonly sent: number;
  readonly firstReceived: number;
  readonly lastReceived: number;
  readonly returnPath: string;
}

/**
 * Reads the times of a delivered mail: one that begins with what a server writes on delivery.
 * Undefined for any other file. Throws `StepError` with the path if a header is missing or invalid.
 */
function readTimes(text: string, path: string): MailTimes | undefined {
  if (!/^(Return-Path|Delivered-To):/i.test(text)) return undefined;
  const fail = (reason: string): never => {
    throw new StepError(`cannot measure the mail "${path}": ${reason}`);
  };
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const valuesOf = (name: string) =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trim());
  const readDate = (text: string, header: string) => {
    const written = text.replace(/\([^)]*\)/g, " ").trim();
    const time = Date.parse(written);
    return Number.isNaN(time) ? fail(`invalid date in the header ${header}: ${written}`) : time;
  };
  const receivedAt = (header: string) => {
    const semicolon = header.lastIndexOf(";");
    if (semicolon < 0) fail(`malformed header Received: ${header}`);
    return readDate(header.slice(semicolon + 1), "Received");
  };
  const [date = fail("it has no header Date")] = valuesOf("date");
  // Each server puts its own above those before it.
  const received = valuesOf("received");
  const [last = fail("it has no header Received")] = received;
  const [returnPath = ""] = valuesOf("return-path");
  return {
    sent: readDate(date, "Date"),
    firstReceived: receivedAt(received.at(-1) ?? last),
    lastReceived: receivedAt(last),
    returnPath: returnPath.replace(/^<|>$/g, ""),
  };
}
