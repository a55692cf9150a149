/** The place of a span in a trace, by W3C Trace Context. */
export class Trace {
  constructor(
    /** The id of the trace: 32 hexadecimal digits. */
    readonly id: string,
    /** The id of the span: 16 hexadecimal digits. */
    readonly span: string,
    /** Whether those who take part in the trace should record it. */
    readonly sampled: boolean,
    /** The id of the span around it. */
    readonly parent?: string,
  ) {}

  /** The first span of a trace of its own. */
  static begin(sampled = true): Trace {
    return new Trace(randomDigits(32), randomDigits(16), sampled);
  }

  /** A span within this one. */
  within(): Trace {
    return new Trace(this.id, randomDigits(16), this.sampled, this.span);
  }

  /** The header of what is sent in it, unless a step sets that itself. */
  header(given: object = {}): { readonly traceparent: string } | undefined {
    if (Object.keys(given).some(isTraceparent)) return undefined;
    return { traceparent: `00-${this.id}-${this.span}-${this.sampled ? "01" : "00"}` };
  }
}

/** Digits that were not given out yet: one call for many ids costs a fraction. */
let digits = "";

/** Random hexadecimal digits, which do not depend on a seed. */
function randomDigits(count: number): string {
  if (digits.length < count) digits = crypto.getRandomValues(new Uint8Array(512)).toHex();
  const taken = digits.slice(-count);
  digits = digits.slice(0, -count);
  return taken;
}

const TRACEPARENT =
  /^(?!ff)[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-[\da-f]([\da-f])(?:-|$)/;

/** The span of what arrives with these headers, within that of its sender; undefined without one. */
export function readTrace(headers: Readonly<Record<string, unknown>>): Trace | undefined {
  const text = headers[Object.keys(headers).find(isTraceparent) ?? ""];
  const [, id, span, flags = "0"] = TRACEPARENT.exec(typeof text === "string" ? text : "") ?? [];
  if (!id || !span) return undefined;
  return new Trace(id, span, parseInt(flags, 16) % 2 === 1).within();
}

/** Whether this is the header that carries a trace, however it is written. */
export function isTraceparent(name: string): boolean {
  return name.toLowerCase() === "traceparent";
}
