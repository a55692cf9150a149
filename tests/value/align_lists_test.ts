import { assert, assertEquals } from "@std/assert";
import { alignLists, type Part } from "../../src/value/align_lists.ts";
import { generator } from "../support/generator.ts";

function align(left: string, right: string): readonly Part[] {
  return alignLists({
    leftCount: left.length,
    rightCount: right.length,
    isSame: (a, b) => left[a] === right[b],
    leftKey: (index) => left[index]!,
    rightKey: (index) => right[index]!,
  });
}

/** `ab[c|d]e`: what is the same, and in brackets what is not. */
function picture(left: string, right: string): string {
  return align(left, right).map((part) => {
    const a = left.slice(part.left, part.left + part.leftCount);
    const b = right.slice(part.right, part.right + part.rightCount);
    if (part.isSame) assertEquals(a, b);
    return part.isSame ? a : `[${a}|${b}]`;
  }).join("");
}

const rows: readonly [left: string, right: string, picture: string][] = [
  ["", "", ""],
  ["abc", "abc", "abc"],
  ["", "a", "[|a]"],
  ["abc", "xabc", "[|x]abc"],
  ["abc", "ac", "a[b|]c"],
  ["abcd", "xbcy", "[a|x]bc[d|y]"],
  ["abcabba", "cbabac", "[ab|]c[a|]b[|a]ba[|c]"],
  ["aa", "aaa", "aa[|a]"],
];
for (const [left, right, expected] of rows) {
  Deno.test(`alignLists() aligns "${left}" and "${right}"`, () =>
    assertEquals(picture(left, right), expected));
}

Deno.test("alignLists() covers both lists, and leaves as little out as can be", () => {
  const random = generator(7);
  const text = () => Array.from({ length: random(9) }, () => "abc"[random(3)]).join("");
  for (let round = 0; round < 500; round++) {
    const [left, right] = [text(), text()];
    const parts = align(left, right);
    assertEquals(parts.reduce((sum, part) => sum + part.leftCount, 0), left.length);
    assertEquals(parts.reduce((sum, part) => sum + part.rightCount, 0), right.length);
    const same = parts.reduce((sum, part) => sum + (part.isSame ? part.leftCount : 0), 0);
    assertEquals(same, longestOf(left, right), `${left} ${right}: ${picture(left, right)}`);
    assert(parts.every(({ isSame }, at) => isSame !== parts[at - 1]?.isSame));
  }
});

/** The length of the longest common subsequence, by trying. */
function longestOf(left: string, right: string): number {
  if (left === "" || right === "") return 0;
  if (left[0] === right[0]) return 1 + longestOf(left.slice(1), right.slice(1));
  return Math.max(longestOf(left.slice(1), right), longestOf(left, right.slice(1)));
}

Deno.test("alignLists() looks at beginnings and ends alone where lists are long", () => {
  const left = `x${"ab".repeat(400)}y`;
  const right = `x${"ba".repeat(400)}y`;
  assertEquals(align(left, right).map(({ leftCount }) => leftCount), [1, 800, 1]);
});
