import { assertEquals } from "@std/assert";
import { nearest } from "../../../src/action/browser/explain_failure.ts";

const CANDIDATES = [
  { names: ["#menu", "nav"], path: "body > nav#menu" },
  { names: [".row", "form"], path: "body > form.row" },
  { names: ["#submit", ".primary", "Sign in", "button"], path: "body > form.row > button#submit" },
  { names: ["email", "input"], path: "body > form.row > input" },
];

const CASES: readonly (readonly [selector: string, path: string | undefined])[] = [
  ["#submitt", "body > form.row > button#submit"],
  ["form > button.primry", "body > form.row > button#submit"],
  ["[name=emial]", "body > form.row > input"],
  ["//form/input[@name='email']", "body > form.row > input"],
  ["text=Sign on", "body > form.row > button#submit"],
  ["#entirely-different", undefined],
  ["button", undefined],
];

Deno.test("nearest() finds the element that a selector was probably meant for", () => {
  for (const [selector, path] of CASES) {
    assertEquals(nearest(selector, CANDIDATES)?.path, path, selector);
  }
});
