import { assertEquals, assertThrows } from "@std/assert";
import type { Dict } from "../../src/action/action.ts";
import type { Converted, ParameterProblem } from "../../src/action/parameter.ts";
import { declare, readRendered } from "../../src/action/make_action.ts";
import { choice, duration, integer, list, map, text, value } from "../../src/action/rule.ts";
import { ACTIONS, loadActions } from "../../src/actions/registry.ts";
import { StepError } from "../../src/base/errors.ts";
import type { Value } from "../../src/base/value/value.ts";
import { hostWith } from "../support/load_files.ts";

const baking = declare({
  name: "bake",
  summary: "Bakes bread",
  params: {
    flour: text("the sort of flour").required(),
    loaves: integer("how many"),
    time: duration("how long"),
    spices: value(["string", "list"], "which"),
    oven: value("map", "its settings"),
    layers: list(
      map({
        of: choice(["jam", "cream"], "what").required(),
        height: value("number", "how high"),
      }, ""),
      "from below",
    ),
    topping: map(
      {
        seeds: text("which"),
        glaze: map({ eggs: integer("how many").required() }, "what makes it shine"),
      },
      "what is on top",
      { oneField: true },
    ),
  },
  check: ({ loaves }, param) => loaves === 13 && param.of("loaves").wrong("13 is unlucky"),
  res: {},
});

const cases: readonly (readonly [string, Dict, readonly ParameterProblem[]])[] = [
  ["what fits", { flour: "rye", loaves: 2, time: "1h", spices: ["salt"], oven: { heat: 9 } }, []],
  ["numbers and booleans as text", { flour: 405, spices: true }, []],
  ["text that reads as the type", { flour: "rye", loaves: "2", time: 90 }, []],
  ["templates, whatever the type", { flour: "{{f}}", loaves: "{{n}}", oven: "{{o}}" }, []],
  ["a key of the step", { flour: "rye", test: "status == 0" }, [{
    path: ["test"],
    at: "key",
    message: 'unknown parameter "test" of bake',
    hint: '"test" is a key of the step, beside "uses"',
  }]],
  ["null as left out", { flour: "rye", loaves: null, oven: null }, []],
  ["the maps of a list", { flour: "rye", layers: [{ of: "jam", height: 2 }, { of: "{{x}}" }] }, []],
  ["mistakes in the maps of a list", {
    flour: "rye",
    layers: [{ of: "craem" }, "jam", { height: "high" }, { of: "glue" }],
  }, [
    {
      path: ["layers", 0, "of"],
      message: 'invalid value "craem" for "layers[0].of"',
      hint: 'did you mean "cream"?',
    },
    { path: ["layers", 1], message: '"layers[1]" must be a map, not "jam"' },
    { path: ["layers", 2], message: '"layers[2]" needs "of"', hint: "what" },
    { path: ["layers", 2, "height"], message: '"layers[2].height" must be a number, not "high"' },
    {
      path: ["layers", 3, "of"],
      message: 'invalid value "glue" for "layers[3].of"',
      hint: '"layers[3].of" is one of jam, cream',
    },
  ]],
  ["a missing one", {}, [
    { path: [], message: 'bake needs "flour"', hint: "the sort of flour" },
  ]],
  ["a required one that is null", { flour: null }, [
    { path: ["flour"], message: 'bake needs "flour"', hint: "the sort of flour" },
  ]],
  ["a misspelt key", { flour: "rye", loavs: 2 }, [
    {
      path: ["loavs"],
      at: "key",
      message: 'unknown parameter "loavs" of bake',
      hint: 'did you mean "loaves"?',
    },
  ]],
  ["a key like no other", { flour: "rye", refrigerator: 2 }, [
    {
      path: ["refrigerator"],
      at: "key",
      message: 'unknown parameter "refrigerator" of bake',
      hint: "bake takes flour, loaves, time, spices, oven, layers, topping",
    },
  ]],
  ["a wrong type", { flour: "rye", loaves: 1.5 }, [
    { path: ["loaves"], message: '"loaves" must be an integer, not 1.5' },
  ]],
  ["a wrong type where two are right", { flour: "rye", spices: {} }, [
    { path: ["spices"], message: '"spices" must be a string or a list, not a map' },
  ]],
  ["a malformed duration", { flour: "rye", time: "1 hour" }, [
    {
      path: ["time"],
      message: '"time" must be a duration like "300ms", "1.5s", "2m" or "1h30m", ' +
        'or a number of seconds, not "1 hour"',
    },
  ]],
  ["fields that fit, and templates for them", { flour: "rye", topping: { glaze: "{{g}}" } }, []],
  ["a field of a wrong type", { flour: "rye", topping: { glaze: { eggs: "some" } } }, [
    {
      path: ["topping", "glaze", "eggs"],
      message: '"topping.glaze.eggs" must be an integer, not "some"',
    },
  ]],
  ["a missing field", { flour: "rye", topping: { glaze: {} } }, [
    {
      path: ["topping", "glaze"],
      message: '"topping.glaze" needs "eggs"',
      hint: "how many",
    },
  ]],
  ["an unknown field", { flour: "rye", topping: { seed: "poppy" } }, [
    {
      path: ["topping", "seed"],
      at: "key",
      message: 'unknown key "seed" in "topping"',
      hint: 'did you mean "seeds"?',
    },
  ]],
  ["no field where one is needed", { flour: "rye", topping: { seeds: null } }, [
    {
      path: ["topping"],
      message: '"topping" has none of its keys',
      hint: "give one of seeds, glaze",
    },
  ]],
  ["two fields where one is needed", { flour: "rye", topping: { seeds: "rye", glaze: "{{g}}" } }, [
    {
      path: ["topping"],
      message: '"topping" has "seeds" and "glaze", which cannot be combined',
      hint: "keep one of them",
    },
  ]],
  ["what the action itself minds", { flour: "rye", loaves: 13 }, [
    { path: ["loaves"], message: "13 is unlucky" },
  ]],
];

for (const [what, params, problems] of cases) {
  Deno.test(`a rule judges ${what}`, () => {
    assertEquals(baking.problems!(params), problems);
  });
}

Deno.test("rules find every mistake at once", () => {
  const found = baking.problems!({ loaves: "x", time: -1, oven: [], yeast: 1 });
  assertEquals(found.map(({ path }) => path.join(".")), ["yeast", "", "loaves", "time", "oven"]);
});

type Type = keyof Converted;

const read = (type: Type, raw: Dict) =>
  readRendered("shell", { p: value(type, "") }, raw).p as unknown;

const fits: readonly (readonly [Type, Value, unknown])[] = [
  ["string", "a", "a"],
  ["string", "", ""],
  ["string", 1.5, "1.5"],
  ["string", false, "false"],
  ["number", 2, 2],
  ["number", " -1.5e3 ", -1500],
  ["integer", 7, 7],
  ["integer", "7", 7],
  ["boolean", true, true],
  ["boolean", "true", true],
  ["boolean", "false", false],
  ["duration", 2, 2000],
  ["duration", "1m30s", 90_000],
  ["map", { a: 1 }, { a: 1 }],
  ["list", [1, "b"], [1, "b"]],
  ["any", { a: [null] }, { a: [null] }],
];

for (const [type, given, expected] of fits) {
  Deno.test(`readRendered() reads ${JSON.stringify(given)} as ${type}`, () => {
    assertEquals(read(type, { p: given }), expected);
  });
}

const misfits: readonly (readonly [Type, Value, string])[] = [
  ["string", ["a"], "a string, not a list"],
  ["string", {}, "a string, not a map"],
  ["number", "abc", 'a number, not "abc"'],
  ["number", "", 'a number, not ""'],
  ["number", "0x10", 'a number, not "0x10"'],
  ["number", true, "a number, not true"],
  ["integer", 1.5, "an integer, not 1.5"],
  ["integer", "9007199254740993", 'an integer, not "9007199254740993"'],
  ["boolean", 1, "a boolean, not 1"],
  ["boolean", "yes", 'a boolean, not "yes"'],
  [
    "duration",
    "soon",
    'a duration like "300ms", "1.5s", "2m" or "1h30m", or a number of seconds, not "soon"',
  ],
  ["map", "x", 'a map, not "x"'],
  ["map", [], "a map, not a list"],
  ["list", { a: 1 }, "a list, not a map"],
  ["list", "x".repeat(80), "a list, not a long text"],
];

for (const [type, given, label] of misfits) {
  Deno.test(`readRendered() refuses ${JSON.stringify(given)} as ${type}`, () => {
    const error = assertThrows(() => read(type, { p: given }), StepError);
    assertEquals(error.message, `cannot run shell: "p" must be ${label}`);
  });
}

Deno.test("readRendered() reads null and missing parameters as undefined", () => {
  assertEquals([read("string", { p: null }), read("any", {})], [undefined, undefined]);
});

Deno.test("readRendered() sees own properties alone", () => {
  assertEquals(readRendered("shell", { constructor: value("any", "") }, {}).constructor, undefined);
});

Deno.test("readRendered() names a required parameter that is nil", () => {
  const required = { p: value("any", "").required() };
  const error = assertThrows(() => readRendered("echo", required, { p: null }), StepError);
  assertEquals(error.message, 'cannot run echo: "p" is nil');
});

Deno.test("loadActions() brings each action by its name and no other", async () => {
  const names = ACTIONS.map(({ name }) => name);
  const wanted = new Set([...names, "", "Hello", "toString", "db"]);
  const { actions } = await loadActions(wanted, hostWith({}));
  assertEquals([...actions.keys()], names);
  for (const [name, action] of actions) assertEquals(action.name, name);
});

Deno.test("the registry has no duplicates", () => {
  const names = ACTIONS.map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
});

Deno.test("Every action names each of its parameters once and loads its code", async () => {
  for (const entry of ACTIONS) {
    const { parameters = [], load } = await entry.load();
    const names = parameters.map(({ name }) => name);
    assertEquals(new Set(names).size, names.length);
    assertEquals(typeof await load(), "function");
  }
});
