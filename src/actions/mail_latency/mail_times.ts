/** When a mail was sent and received, in milliseconds, and by whom. */
export interface MailTimes {
  readonly sent: number;
  readonly firstReceived: number;
  readonly lastReceived: number;
  readonly returnPath: string;
}

/** A missing or invalid header of a mail. */
export class HeaderFault extends Error {}

/**
 * Reads the times of a delivered mail: one that begins with what a server writes on delivery.
 * Undefined for any other file.
 */
export function readTimes(text: string): MailTimes | undefined {
  if (!/^(Return-Path|Delivered-To):/i.test(text)) return undefined;
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  const lines = head.replace(/\r?\n[ \t]+/g, " ").split(/\r?\n/);
  const valuesOf = (name: string) =>
    lines.filter((line) => line.toLowerCase().startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).trim());
  const [date] = valuesOf("date");
  // Each server puts its own above those before it.
  const received = valuesOf("received");
  if (date === undefined) throw new HeaderFault("it has no header Date");
  if (received.length === 0) throw new HeaderFault("it has no header Received");
  const receivedAt = (header: string) => {
    const semicolon = header.lastIndexOf(";");
    if (semicolon < 0) throw new HeaderFault(`malformed header Received: ${header}`);
    return readDate(header.slice(semicolon + 1), "Received");
  };
  const [path = ""] = valuesOf("return-path");
  return {
    sent: readDate(date, "Date"),
    firstReceived: receivedAt(received.at(-1)!),
    lastReceived: receivedAt(received[0]!),
    returnPath: path.replace(/^<|>$/g, ""),
  };
}

function readDate(text: string, header: string): number {
  const written = text.replace(/\([^)]*\)/g, " ").trim();
  const time = Date.parse(written);
  if (Number.isNaN(time)) throw new HeaderFault(`invalid date in the header ${header}: ${written}`);
  return time;
}
