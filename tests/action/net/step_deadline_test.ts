import { assertEquals } from "@std/assert";
import type { ActionContext } from "../../../src/action/action.ts";
import { limitAction } from "../../../src/action/net/step_deadline.ts";
import { actionContext } from "../../support/action_context.ts";

/** A context with private fields, as those of runs have. */
class Private {
  #place = "here";
  readonly #said: string[] = [];
  constructor(readonly base: ActionContext) {}
  get signal() {
    return this.base.signal;
  }
  get deadline() {
    return this.base.deadline;
  }
  resolvePath(path: string) {
    return Promise.resolve(`${this.#place}/${path}`);
  }
  runJobFile() {
    return Promise.reject(new Error(this.#place));
  }
  log(text: string) {
    this.#said.push(text);
  }
  warn(text: string) {
    this.#said.push(text);
  }
  get said() {
    return this.#said;
  }
}

Deno.test("limitAction() leaves the methods of a context with private fields usable", async () => {
  await using base = actionContext();
  const given = new Private(base);
  const { context, release } = limitAction(given as unknown as ActionContext, 60_000);
  assertEquals(await context.resolvePath("a"), "here/a");
  context.log("b");
  context.warn("c");
  assertEquals(given.said, ["b", "c"]);
  release();
});
