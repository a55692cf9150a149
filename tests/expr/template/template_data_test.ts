import { assertEquals } from "@std/assert";
import { isTemplate } from "../../../src/expr/template/template_data.ts";

Deno.test("isTemplate() knows text with a template from other values", () => {
  assertEquals([isTemplate("a {{b}}"), isTemplate("a { b"), isTemplate(1)], [true, false, false]);
});
