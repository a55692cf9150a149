import { assertEquals, assertThrows } from "@std/assert";
import { evaluateExpression, ExpressionError, renderTemplate } from "../../mod.ts";

const LIBRARY = { evaluateExpression, renderTemplate } as const;

/** A call as JavaScript may make it, whatever the types say. */
type Call = (source: unknown, context?: unknown, options?: unknown) => unknown;

function throwing(): never {
  throw new RangeError("trap");
}

const trapped = new Proxy({}, {
  get: throwing,
  has: throwing,
  ownKeys: throwing,
  getOwnPropertyDescriptor: throwing,
  getPrototypeOf: throwing,
});

const { proxy: revoked, revoke } = Proxy.revocable([], {});
revoke();

for (const [name, evaluate] of Object.entries(LIBRARY) as [keyof typeof LIBRARY, Call][]) {
  const text = (source: string) => name === "renderTemplate" ? `a {{ ${source} }}` : source;

  Deno.test(`${name}() throws an ExpressionError where it is misused`, () => {
    const sources = [undefined, null, 1, [], {}, Symbol("s"), new String("1")];
    for (const source of sources) assertThrows(() => evaluate(source, {}), ExpressionError);
    for (const context of [undefined, null, 1, "x", throwing]) {
      assertThrows(() => evaluate(text("1"), context), ExpressionError);
    }
    const options = {
      get strict(): boolean {
        return throwing();
      },
    };
    assertThrows(() => evaluate(text("1"), {}, options), ExpressionError);
  });

  Deno.test(`${name}() throws an ExpressionError where its data throws`, () => {
    assertThrows(() => evaluate(text("a"), trapped), ExpressionError);
    const others: unknown[] = [];
    for (const a of [trapped, revoked]) {
      assertThrows(() => evaluate(text("a.b"), { a }), ExpressionError);
      for (const data of [{ a }, { a: [a] }, { a: { b: a } }]) {
        for (const source of ["a.b.c", "toJSON(a)", "keys(a)", "a == {b: 1}", "map(a, .b)", "-a"]) {
          try {
            evaluate(text(source), data);
          } catch (error) {
            if (!(error instanceof ExpressionError)) others.push(error);
          }
        }
      }
    }
    assertEquals(others, []);
  });

  Deno.test(`${name}() takes no options for no wishes`, () => {
    assertEquals(evaluate(text("1 + 1"), {}, null), evaluate(text("1 + 1"), {}));
  });
}
