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

  /** The header `traceparent` of what is sent in it. */
  get traceparent(): string {
    return `00-${this.id}-${this.span}-${this.sampled ? "01" : "00"}`;
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

/** The trace and the span of a header `traceparent`; undefined where it is invalid. */
export function readTraceparent(text: string): Pick<Trace, "id" | "span"> | undefined {
  const [, id, span] =
    /^(?!ff)[\da-f]{2}-(?!0+-)([\da-f]{32})-(?!0+-)([\da-f]{16})-[\da-f]{2}(?:-|$)/
      .exec(text.trim()) ?? [];
  return id && span ? { id, span } : undefined;
}
