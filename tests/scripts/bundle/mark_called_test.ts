import { assertEquals, assertStringIncludes } from "@std/assert";
import { parse } from "acorn";
import { markCalled } from "../../../scripts/bundle/mark_called.ts";
import { nodesOf } from "../../../scripts/bundle/walk.ts";

/** All functions of a code, as if a run had called each of them. */
function allOf(code: string): Set<string> {
  const tree = parse(code, { ecmaVersion: "latest", sourceType: "module" });
  const functions = [...nodesOf(tree)].filter(({ type }) => /Function/.test(type));
  return new Set(functions.map(({ start, end }) => `${start}:${end}`));
}

Deno.test("functions that are called go into parentheses, and declarations to the top", () => {
  const table: [code: string, marked: string][] = [
    ["const a=()=>1;", "const a=(()=>1);"],
    ["const a=x=>y=>x+y;", "const a=(x=>(y=>x+y));"],
    ["let b=async()=>{};", "let b=(async()=>{});"],
    ["f();function f(a){return a}", "var f=(function(a){return a});f();"],
    ["async function f(){}function*g(){}", "var f=(async function(){}),g=(function*(){});"],
    ["function f(){return()=>1}", "var f=(function(){return(()=>1)});"],
    ["function f(){function g(){}}", "var f=(function(){function g(){}});"],
    ["const o={m(){return()=>1},get n(){return 1},p:function(){}};", ""],
    ["class C{m(){return()=>1}#p=()=>2;static s(){}}", ""],
    ["(function(){})();", "((function(){}))();"],
    ["call(function(){},x=>x)", "call((function(){}),(x=>x))"],
  ];
  for (const [code, expected] of table) {
    const marked = markCalled(code, allOf(code));
    parse(marked, { ecmaVersion: "latest", sourceType: "module" });
    if (expected !== "") assertEquals(marked, expected);
  }
  const methods = "const o={m(){return()=>1},p:function(){}};class C{m(){return()=>1}}";
  const marked = "const o={m(){return(()=>1)},p:(function(){})};class C{m(){return(()=>1)}}";
  assertEquals(markCalled(methods, allOf(methods)), marked);
});

Deno.test("functions that are not called stay as they are", () => {
  const code = "f();function f(){return()=>1}function g(){return()=>2}";
  assertEquals(markCalled(code, new Set()), code);
  const called = new Set([`4:29`]);
  assertEquals(code.slice(4, 29), "function f(){return()=>1}");
  const marked = "var f=(function(){return()=>1});f();function g(){return()=>2}";
  assertEquals(markCalled(code, called), marked);
});

Deno.test("marked code does the same", async () => {
  const code = `
    const seen=[early()];
    function early(){return "early"}
    function once(){seen.push("first");once=()=>seen.push("then");}
    once();once();
    class Base{constructor(){this.make=()=>new.target.name}get v(){return [1].map(x=>x+1)[0]}}
    function* count(n){for(let i=0;i<n;i++)yield i}
    const self=function me(n){return n?me(n-1):"me"};
    seen.push(new Base().v,...count(2),self(2),early.name,(()=>{}).name);
    export{seen as default};`;
  const run = async (text: string) => {
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    try {
      return (await import(url)).default;
    } finally {
      URL.revokeObjectURL(url);
    }
  };
  const marked = markCalled(code, allOf(code));
  assertStringIncludes(marked, "var early=(function(){");
  const expected = ["early", "first", "then", 2, 0, 1, "me", "early", ""];
  assertEquals([await run(code), await run(marked)], [expected, expected]);
});
