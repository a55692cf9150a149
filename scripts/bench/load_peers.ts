/** What another load tool has measured: rounds a second, and milliseconds. */
export interface Peer {
  readonly rate: number;
  readonly p99: number;
  readonly max: number;
}

/** What wrk, or wrk2 at a rate, measures; nothing where it is not installed. */
export async function runWrk(
  program: "wrk" | "wrk2",
  url: string,
  seconds: number,
  rate?: number,
): Promise<Peer | undefined> {
  const args = ["-t1", "-c64", `-d${seconds}s`, "--latency"];
  const text = await run(program, ...args, ...rate ? [`-R${rate}`] : [], url);
  if (text === undefined) return undefined;
  const timeOf = (pattern: RegExp) => {
    const [, number, unit = ""] = pattern.exec(text) ?? [];
    return Number(number) * (UNITS[unit] ?? NaN);
  };
  return {
    rate: Number(/Requests\/sec:\s*([\d.]+)/.exec(text)?.[1]),
    p99: timeOf(/ 99(?:\.000)?%\s+([\d.]+)(us|ms|s|m)/),
    max: timeOf(/100\.000%\s+([\d.]+)(us|ms|s|m)/),
  };
}

const UNITS: Record<string, number> = { us: 0.001, ms: 1, s: 1000, m: 60_000 };

/** What autocannon of npm measures without a rate. */
export async function runAutocannon(url: string, seconds: number): Promise<Peer | undefined> {
  const text = await run("autocannon", "-c", "64", "-d", `${seconds}`, "--json", url);
  if (text === undefined) return undefined;
  const { requests, latency } = JSON.parse(text);
  return { rate: requests.average, p99: latency.p99, max: latency.max };
}

async function run(program: string, ...args: string[]): Promise<string | undefined> {
  try {
    const { stdout } = await new Deno.Command(program, { args, stderr: "null" }).output();
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
