import { assertEquals } from "@std/assert";
import {
  addName,
  type CommonName,
  renderCommonName,
} from "../../../src/report/model/round_tally.ts";

Deno.test("a common name is what all names begin and end with", () => {
  const table: [names: string[], common: string][] = [
    [["ping"], "ping"],
    [["ping", "ping", "ping"], "ping"],
    [["request 0", "request 1"], "request …"],
    // No part of a number or word is taken for the whole.
    [["request 10", "request 11", "request 12"], "request …"],
    [["order", "orders"], "order, …"],
    [["user1@shop", "user2@shop"], "user…@shop"],
    [["get 1 of 3 as ann", "get 2 of 3 as ann", "get 3 of 3 as bob"], "get …"],
    [["a 1 b", "a 2 b", "a 3 b", "a 3 c"], "a …"],
    [["a a", "a"], "a…"],
    [["a", "a a", "a a a"], "a…"],
    [["0", "1", "2"], "0, …"],
    [["(0)", "(1)"], "(0), …"],
    [["vögel 一 1", "vögel 一 2"], "vögel 一 …"],
  ];
  for (const [names, expected] of table) {
    const common: CommonName = { first: names[0]! };
    for (const name of names) addName(common, name);
    assertEquals(renderCommonName(common), expected, names.join(", "));
  }
});
