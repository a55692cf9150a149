import { assertEquals } from "@std/assert";
import type { Action, Dict, ParameterProblem } from "../../src/action/action.ts";
import { checkParameters } from "../../src/action/parameters.ts";

const baking: Action = {
  name: "bake",
  summary: "Bakes bread",
  parameters: [
    { name: "flour", type: "string", summary: "the sort of flour", required: true },
    { name: "loaves", type: "integer", summary: "how many" },
    { name: "time", type: "duration", summary: "how long" },
    { name: "spices", type: ["string", "list"], summary: "which" },
    { name: "oven", type: "map", summary: "its settings" },
    {
      name: "layers",
      type: "list",
      summary: "from below",
      items: [
        { name: "of", type: "string", summary: "what", required: true, values: ["jam", "cream"] },
        { name: "height", type: "number", summary: "how high" },
      ],
    },
    {
      name: "topping",
      type: "map",
      summary: "what is on top",
      oneField: true,
      fields: [
        { name: "seeds", type: "string", summary: "which" },
        {
          name: "glaze",
          type: "map",
          summary: "what makes it shine",
          fields: [{ name: "eggs", type: "integer", summary: "how many", required: true }],
        },
      ],
    },
  ],
  check: ({ loaves }) => loaves === 13 ? [{ path: ["loaves"], message: "13 is unlucky" }] : [],
  load: () => Promise.reject(new Error("nothing here runs it")),
};

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
  Deno.test(`checkParameters() judges ${what}`, () => {
    assertEquals(checkParameters(baking, params), [...problems]);
  });
}

Deno.test("checkParameters() finds every mistake at once", () => {
  const found = checkParameters(baking, { loaves: "x", time: -1, oven: [], yeast: 1 });
  assertEquals(found.map(({ path }) => path.join(".")), ["yeast", "", "loaves", "time", "oven"]);
});

Deno.test("checkParameters() leaves an action without a table alone", () => {
  const { parameters: _, check: __, ...open } = baking;
  assertEquals(checkParameters(open, { anything: 1 }), []);
});
