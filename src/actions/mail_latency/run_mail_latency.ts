import { relative } from "@std/path/relative";
import { resolve } from "@std/path/resolve";
import { filesBelow } from "../../host/walk_directories.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionContext, ActionResult, Dict } from "../../action/action.ts";
import { readParameters, required } from "../../action/read_parameters.ts";
import { fileProblem, readablePath, writeStepFile } from "../../action/step_file.ts";
import { HeaderFault, type MailTimes, readTimes } from "./mail_times.ts";

interface Measured extends MailTimes {
  /** Relative to the directory. */
  readonly path: string;
}

const COLUMNS = [
  ...["Sent Time Offset (sec)", "Received Time Offset (sec)", "Sent Time", "Last Received Time"],
  ...["End-to-End Latency (sec)", "First Received Time", "Relay Latency (sec)", "Return Path"],
  "File Path",
];

/** Reads the mails and writes a CSV file, sorted by when they were sent. */
export async function runMailLatency(
  params: Dict,
  context: ActionContext,
): Promise<ActionResult> {
  const read = readParameters("mail-latency", params);
  const mailDir = required("mail-latency", "mail_dir", read.string("mail_dir"));
  const outputDir = required("mail-latency", "output_dir", read.string("output_dir"));
  const format = formatterOf(read.string("zone") ?? "UTC");
  const { mails, skipped } = await readMails(mailDir, context);
  const sent = least(mails.map((mail) => mail.sent));
  const received = least(mails.map((mail) => mail.lastReceived));
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
  const file = await write(outputDir, csv, context);
  const latencies = rows.map((row) => row.end_to_end);
  return {
    req: { ...params },
    res: {
      status: 0,
      output_file: file,
      count: rows.length,
      skipped,
      mails: rows,
      latency: {
        min: least(latencies),
        mean: latencies.reduce((sum, one) => sum + one, 0) / latencies.length,
        max: -least(latencies.map((one) => -one)),
      },
    },
    status: 0,
    brief: rows.length === 1 ? "1 mail" : `${rows.length} mails`,
  };
}

async function readMails(
  path: string,
  context: ActionContext,
): Promise<{ mails: readonly Measured[]; skipped: number }> {
  const { files } = context.host;
  const parameter = "mail_dir";
  const root = await readablePath({ path, what: "the directory", parameter }, context);
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
  for (const mail of await filesBelow(root, files, () => true)) {
    if (context.signal.aborted) throw context.signal.reason;
    const text = await readText(mail, context);
    try {
      const times = readTimes(text);
      if (times) mails.push({ ...times, path: relative(root, mail) });
      else skipped++;
    } catch (error) {
      if (!(error instanceof HeaderFault)) throw error;
      throw new StepError(`cannot measure the mail "${mail}": ${error.message}`);
    }
  }
  if (mails.length > 0) return { mails, skipped };
  throw new StepError(
    `there are no delivered mails in "${root}"`,
    "a delivered mail begins with the header Return-Path or Delivered-To",
    { parameter },
  );
}

async function readText(path: string, { host }: ActionContext): Promise<string> {
  try {
    return new TextDecoder().decode(await host.files.read(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new StepError(
        `cannot read the mail "${path}": it has gone since the directory was read (ENOENT)`,
        "a mail server may have moved it: measure a copy of the directory",
      );
    }
    throw fileProblem(error, { path, what: "the mail", parameter: "mail_dir" }, path);
  }
}

async function write(outputDir: string, csv: string, context: ActionContext): Promise<string> {
  const { files, clock } = context.host;
  const time = new Date(clock.now()).toISOString();
  const stamp = time.slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
  const start = `${resolve(files.workingDirectory(), outputDir)}/mail-latency.${stamp}`;
  let path = `${start}.csv`;
  // A place that cannot be read cannot be written either; writing says why.
  for (let number = 2; await files.isFile(path).catch(() => false); number++) {
    path = `${start}-${number}.csv`;
  }
  const file = { path, what: "the results", parameter: "output_dir" };
  return await writeStepFile(file, new TextEncoder().encode(csv), context);
}

function formatterOf(zone: string): (time: number) => string {
  try {
    const format = new Intl.DateTimeFormat("sv-SE", {
      timeZone: zone,
      dateStyle: "short",
      timeStyle: "medium",
    });
    return (time) => format.format(time);
  } catch {
    throw new StepError(
      `cannot run mail-latency: unknown time zone ${JSON.stringify(zone)}`,
      "write the name of a place: Europe/Zurich, or UTC",
      { parameter: "zone" },
    );
  }
}

/** The least of any number of numbers; a function takes only so many arguments. */
function least(numbers: readonly number[]): number {
  return numbers.reduce((one, other) => Math.min(one, other), Infinity);
}

function seconds(milliseconds: number): number {
  return Math.round(milliseconds / 1000);
}

function cellOf(cell: string | number): string {
  const text = String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
