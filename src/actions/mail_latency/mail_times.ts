import { StepError } from "../../base/errors.ts";

/** When a mail was sent and received, in milliseconds, and by whom. */
export interface MailTimes {
  readonly sent: number;
  readonly firstReceived: number;
  readonly lastReceived: number;
  readonly returnPath: string;
}

/**
 * Reads the times of a delivered mail: one that begins with what a server writes on delivery.
 * Undefined for any other file. Throws `StepError` with the path if a header is missing or invalid.
 */
export function readTimes(text: string, path: string): MailTimes | undefined {
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
