import { assert, assertEquals } from "@std/assert";
import type { Output } from "../../src/host/host.ts";
import { loadStyle, PLAIN, type Reporter } from "../../src/report/reporter.ts";
import { Terminal } from "../../src/report/terminal.ts";
import { warningReport } from "../../src/report/text/warning_report.ts";
import type { RunEvent } from "../../src/run/event.ts";
import { tallyRounds } from "../../src/run/round_tally.ts";
import { fakeClock } from "../support/fake_clock.ts";
import { Screen } from "../support/run/screen.ts";
import {
  falseTest,
  jobFinished,
  jobStarted,
  LATE,
  NOON,
  reportOf,
  runFinished,
  runStarted,
  stepFinished,
  stepStarted,
} from "./events.ts";
import { withLiveLines } from "../../src/report/live.ts";
import { textReport } from "../../src/report/text/text_report.ts";
import { writeInBlocks } from "../../src/report/text/write_jobs.ts";

const COLOURED = await loadStyle(true);

/** Records the writes to a pipe, whose reader closes it after so many writes. */
class Pipe implements Output {
  readonly isTerminal = false;
  text = "";
  constructor(private writesLeft = Infinity) {}
  columns = () => 80;
  rows = () => 24;
  onClosed = () => {};
  flush = () => Promise.resolve(true);
  write(text: string): boolean {
    if (this.writesLeft-- <= 0) return false;
    this.text += text;
    return true;
  }
}

function setUp(
  stdout: Output,
  { live = true, stderr = new Pipe() as Output, colour = false } = {},
) {
  const clock = fakeClock(NOON);
  const style = colour ? COLOURED : PLAIN;
  const options = { timing: false, style, late: LATE };
  const text = textReport(options, writeInBlocks(options));
  const terminal = new Terminal({
    clock,
    stdout,
    stderr,
    report: live ? withLiveLines(text, style, false, LATE) : text,
    details: warningReport({ style }),
  });
  return { terminal, clock };
}

const wide = "とても長い名前のステップ, which is wider than any small terminal";
const events: readonly RunEvent[] = [...tallyRounds([
  runStarted(["build", "load", "deploy"], { description: "about" }),
  jobStarted("build"),
  stepStarted({ job: "build", step: 0 }, wide),
  jobStarted("load", { rounds: 3 }),
  stepFinished({ job: "build", step: 0 }, wide, { echo: "one\ntwo" }),
  stepStarted({ job: "build", step: 1 }, "test"),
  stepFinished({ job: "load", step: 0, round: 0 }, "ping"),
  { type: "round_finished", runId: "r", time: NOON, job: "load", round: 0, state: "passed" },
  stepFinished({ job: "build", step: 1 }, "test", { state: "failed", failures: [falseTest()] }),
  jobFinished("build", { state: "failed" }),
  jobFinished("load"),
  jobFinished("deploy", { state: "skipped" }),
  runFinished({ state: "failed" }),
])];
const style = PLAIN;
const OPTIONS = { timing: false, style, late: LATE };
const streamText = reportOf(textReport(OPTIONS, writeInBlocks(OPTIONS)), events);

Deno.test("Terminal writes only the report to a pipe, without delay", () => {
  for (const live of [true, false]) {
    const pipe = new Pipe();
    const { terminal, clock } = setUp(pipe, { live });
    terminal.take(events[0]!);
    assertEquals(pipe.text, "Shop\nabout\n\n");
    for (const event of events.slice(1)) terminal.take(event);
    assertEquals(pipe.text, streamText);
    assertEquals(clock.waiting(), 0);
    terminal.close();
    assertEquals(pipe.text, streamText);
  }
});

Deno.test("Terminal draws no live lines on a screen unless it is asked to", () => {
  const screen = new Screen();
  const { terminal } = setUp(screen, { live: false });
  for (const event of events) terminal.take(event);
  terminal.close();
  assertEquals(screen.writes.join(""), streamText);
});

Deno.test("Terminal leaves the same report on the screen as in a pipe, at any size and pace", () => {
  for (const [columns, rows] of [[80, 24], [20, 24], [20, 3], [7, 2], [200, 1]] as const) {
    for (const pace of [0, 30, 80, 200]) {
      const screen = new Screen(columns, rows);
      const { terminal, clock } = setUp(screen);
      for (const event of events) {
        terminal.take(event);
        clock.advance(pace);
      }
      terminal.close();
      assertEquals(screen.text(), streamText, `${columns}x${rows} at ${pace}`);
      assert(screen.isCursorVisible);
      assertEquals(clock.waiting(), 0);
    }
  }
});

Deno.test("Terminal draws running steps below the report", () => {
  const screen = new Screen(60, 24);
  const { terminal, clock } = setUp(screen);
  for (const event of events.slice(0, 6)) terminal.take(event);
  clock.advance(800);
  assertEquals(
    screen.text(),
    `Shop
about

⠋ Build › test  0.8s
⠋ Load  0.8s  0/3 rounds
  0 of 3 done
`,
  );
  assert(!screen.isCursorVisible);
  clock.advance(80);
  assert(
    screen.text().endsWith("⠙ Build › test  0.9s\n⠙ Load  0.9s  0/3 rounds\n  0 of 3 done\n"),
  );
  terminal.close();
});

Deno.test("Terminal makes one write of each frame, for the terminal to show at once", () => {
  const screen = new Screen();
  const { terminal, clock } = setUp(screen);
  for (const event of events.slice(0, 6)) terminal.take(event);
  assertEquals(screen.writes.length, 1);
  clock.advance(79);
  assertEquals(screen.writes.length, 1);
  clock.advance(1);
  assertEquals(screen.writes.length, 2);
  clock.advance(800);
  assertEquals(screen.writes.length, 12);
  for (const write of screen.writes) {
    assert(write.startsWith("\x1b[?2026h") && write.endsWith("\x1b[?2026l"), write);
  }
  terminal.close();
});

Deno.test("Terminal keeps the report whole when the size of the screen changes", () => {
  const sizes: readonly (readonly [columns: number, rows: number])[] = [
    [30, 10],
    [20, 24],
    [120, 5],
    [25, 24],
    [80, 24],
  ];
  const screen = new Screen(80, 24);
  const { terminal, clock } = setUp(screen);
  events.forEach((event, index) => {
    terminal.take(event);
    const [columns, rows] = sizes[index % sizes.length]!;
    screen.resize(columns, rows);
    clock.advance(100);
  });
  terminal.close();
  assertEquals(screen.text(), streamText);
});

Deno.test("Terminal measures live lines without their colours", () => {
  const screen = new Screen(20, 10);
  const { terminal, clock } = setUp(screen, { colour: true });
  for (const event of events) {
    terminal.take(event);
    clock.advance(100);
  }
  terminal.close();
  assertEquals(screen.text(), streamText);
});

Deno.test("Terminal writes warnings above the live lines when both are one screen", () => {
  const screen = new Screen();
  const { terminal, clock } = setUp(screen, { stderr: screen });
  for (const event of events.slice(0, 4)) terminal.take(event);
  clock.advance(80);
  terminal.take({ type: "note", runId: "r", time: NOON, level: "warning", text: "slow" });
  assert(screen.text().endsWith("\nwarning: slow\n"), screen.text());
  clock.advance(80);
  assert(screen.text().includes("\nwarning: slow\n⠹ Build › "), screen.text());
  for (const event of events.slice(4)) terminal.take(event);
  terminal.close();
  assertEquals(screen.text().replace("warning: slow\n", ""), streamText);
});

for (const live of [true, false]) {
  Deno.test(`Terminal draws nothing more once the reader is gone, ${live ? "live" : "streaming"}`, () => {
    const screen = new Screen();
    const { terminal, clock } = setUp(screen, { live });
    for (const event of events.slice(0, 4)) terminal.take(event);
    screen.isReaderGone = true;
    for (const event of events.slice(4)) {
      terminal.take(event);
      clock.advance(100);
    }
    terminal.close();
    assertEquals(clock.waiting(), 0);
  });
}

Deno.test("Terminal lets a run go on when only the reader of its details is gone", () => {
  const stdout = new Pipe();
  const { terminal } = setUp(stdout, { stderr: new Pipe(0) });
  terminal.take({ type: "note", runId: "r", time: NOON, level: "warning", text: "slow" });
  for (const event of events) terminal.take(event);
  assertEquals(stdout.text, streamText);
});

Deno.test("Terminal draws nothing for a reporter without live lines", () => {
  const screen = new Screen();
  const report: Reporter = { report: ({ event }) => `${event.type}\n` };
  const clock = fakeClock();
  const details = warningReport({ style });
  const terminal = new Terminal({ clock, stdout: screen, stderr: new Pipe(), report, details });
  terminal.take(events[0]!);
  assertEquals(screen.writes, ["run_started\n"]);
});

Deno.test("a job that takes long is said to be under way", () => {
  const clock = fakeClock(NOON);
  const start = runStarted(["api", "web", "off", "later"]);
  const jobs = start.jobs.map((job) => {
    return job.id === "later" ? { ...job, needs: ["api", "web", "off"] } : job;
  });
  const stdout = new Pipe();
  const terminal = new Terminal({
    ...{ clock, stdout, stderr: new Pipe() },
    report: textReport(OPTIONS),
    details: { report: () => "" },
  });
  const take = (...events: RunEvent[]) =>
    events.forEach((event) => terminal.take({ ...event, time: clock.now() }));
  take({ ...start, jobs }, jobStarted("api"), stepStarted({ job: "api", step: 0 }, "wait for it"));
  clock.advance(5000);
  take(jobStarted("web", { rounds: 3 }), jobFinished("off", { state: "skipped" }));
  take({ type: "round_finished", runId: "r", time: NOON, job: "web", round: 0, state: "passed" });
  clock.advance(15_000);
  take(
    stepFinished({ job: "api", step: 0 }, "wait for it"),
    jobFinished("api"),
    jobFinished("web"),
    jobStarted("later"),
  );
  take(
    stepFinished({ job: "later", step: 0 }, "go"),
    stepStarted({ job: "later", step: 1 }, "sleep"),
  );
  clock.advance(20_000);
  take(jobFinished("later"));
  terminal.close();
  assertEquals(clock.waiting(), 0);
  assertEquals(
    stdout.text,
    `Shop

- Off (skipped)

… Api › wait for it (10s)
… Api › wait for it (20s), Web › 1 of 3 rounds (15s)

● Api
   1. ✓ wait for it
✓ Api 120ms

✓ Web 120ms

● Later
   1. ✓ go
    … sleep (10s)
    … sleep (20s)
✓ Later 120ms

`,
  );
});
