import { assertEquals, assertThrows } from "@std/assert";
import {
  evaluateExpression,
  ExpressionError,
  renderTemplate,
} from "../../src/expr/evaluate/evaluate_expression.ts";
import vectors from "./vectors.json" with { type: "json" };

interface Vector {
  readonly expr: string;
  readonly env: string | Record<string, unknown>;
  readonly template?: boolean;
  readonly expect?: unknown;
  readonly error?: boolean;
}

const envs: Readonly<Record<string, Record<string, unknown>>> = vectors.envs;

for (const [group, entries] of Object.entries(vectors.groups as Record<string, Vector[]>)) {
  Deno.test(`evaluateExpression() agrees with the vectors: ${group}`, () => {
    for (const vector of entries) {
      if (vector.error) {
        assertThrows(() => outcome(vector), ExpressionError);
      } else {
        assertEquals(written(outcome(vector)), vector.expect, vector.expr);
      }
    }
  });
}

function outcome({ expr, env, template }: Vector): unknown {
  const context = typeof env === "string" ? envs[env]! : env;
  const evaluate = template ? renderTemplate : evaluateExpression;
  return evaluate(expr, context, { strict: env === "step" });
}

/** A value as the vectors write it. */
function written(value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  }
  if (Array.isArray(value)) return value.map(written);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, written(part)]));
}
