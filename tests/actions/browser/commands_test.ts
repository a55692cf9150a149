import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { browser } from "../../../src/actions/browser/browser.ts";
import { nearest } from "../../../src/actions/browser/explain_failure.ts";
import { command, describeCommand } from "../../../src/actions/browser/commands.ts";
import { Param } from "../../../src/action/rule.ts";

const CASES: readonly (readonly [params: Dict, messages: readonly string[]])[] = [
  [{ actions: [{ name: "navigate", url: "http://x" }, { name: "wait_ready" }] }, []],
  [{}, ['browser needs "actions"']],
  [{ actions: [] }, ['"actions" must not be empty']],
  [{ actions: [{ name: "clik", selector: "a" }] }, ['invalid value "clik" for "actions[0].name"']],
  [{ actions: [{ name: "click" }] }, ['the action "click" needs "selector"']],
  [{ actions: [{ selector: "a" }] }, ['"actions[0]" needs "name"']],
  [{ actions: [{ name: "click", selector: "a", url: "b" }] }, [
    'the action "click" takes no "url"',
  ]],
  [{ actions: [{ name: "click", selektor: "a" }] }, [
    'unknown key "selektor" in "actions[0]"',
    'the action "click" needs "selector"',
  ]],
  [{ actions: [{ name: "fill", selector: "a", value: ["b"] }, { name: "press", value: ["b"] }] }, [
    '"value" of the action "fill" must be a text, not a list',
  ]],
  [{ actions: [{ name: "expect_title", value: " " }] }, [
    'an empty "value" of the action "expect_title" is in every text',
  ]],
  [{ actions: [{ name: "expect_title", value: "", exact: true }] }, []],
  [{ actions: "{{vars.actions}}" }, []],
  [{ actions: ["{{vars.action}}", { name: "{{vars.name}}" }] }, []],
  [{ actions: [{ name: "wait_ready" }], dialogs: "ignore", window_w: 0 }, [
    '"window_w" must be at least 1, not 0',
    'invalid value "ignore" for "dialogs"',
  ]],
  [{ actions: [{ name: "wait_ready" }], viewport: { width: 1 }, tls: { cert: "x" } }, [
    '"viewport" needs "height"',
    'unknown key "cert" in "tls"',
  ]],
];

Deno.test("mistakes in the actions of browser are found before the run", () => {
  for (const [params, messages] of CASES) {
    assertEquals(browser.problems!(params).map(({ message }) => message), messages);
  }
});

Deno.test("a screenshot without an element names the actions that save the page", () => {
  const [problem] = browser.problems!({ actions: [{ name: "screenshot", path: "a.png" }] });
  assertEquals(problem!.message, 'the action "screenshot" needs "selector"');
  assertStringIncludes(problem!.hint!, '"capture_screenshot" saves the visible part of the page');
});

Deno.test("actions are described in a few words", () => {
  const actions: Dict[] = [
    { name: "navigate", url: "http://x/" },
    { name: "fill", selector: "#a", value: 5 },
    { name: "select", selector: "#b", value: ["x", "y"] },
    { name: "expect_title", value: "T", exact: true },
    { name: "upload", selector: "#f", path: "a.txt" },
  ];
  const param = new Param("browser");
  assertEquals(actions.map((one) => describeCommand(command.parse(one, param))), [
    "navigate http://x/",
    'fill "#a" "5"',
    'select "#b" ["x","y"]',
    'expect_title "T" exactly',
    'upload "#f" a.txt',
  ]);
});

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

const FAILURES: readonly (readonly [selector: string, path: string | undefined])[] = [
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
  for (const [selector, path] of FAILURES) {
    assertEquals(nearest(selector, CANDIDATES)?.path, path, selector);
  }
});
