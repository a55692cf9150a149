import { assertEquals } from "@std/assert";
import { nearest } from "../../../src/action/browser/explain_failure.ts";

const candidate = (names: readonly string[], element: string) => ({
  names,
  element,
  path: element,
});

const CANDIDATES = [
  candidate(["#menu", "nav"], "body > nav#menu"),
  candidate([".row", "Sign in", "form"], "body > form.row"),
  candidate(
    ["#submit", ".primary", "Sign in", "button"],
    "body > form.row > button#submit",
  ),
  candidate(["email", "input"], "body > form.row > input"),
  candidate(["Go", "form"], "body > form"),
  candidate(["#go", "Go", "button"], "body > form > button#go"),
];

const CASES: readonly (readonly [selector: string, path: string | undefined])[] = [
  ["#submitt", "body > form.row > button#submit"],
  ["form > button.primry", "body > form.row > button#submit"],
  ["[name=emial]", "body > form.row > input"],
  ["//form/input[@name='email']", "body > form.row > input"],
  ["#goo", "body > form > button#go"],
  ["#Email", "body > form.row > input"],
  ["text=Sign on", "body > form.row > button#submit"],
  ["#entirely-different", undefined],
  ["button", undefined],
];

Deno.test("nearest() finds the element that a selector was probably meant for", () => {
  for (const [selector, path] of CASES) {
    assertEquals(nearest(selector, CANDIDATES)?.path, path, selector);
  }
});
