import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

/** Words for which the glossary has another. */
const OTHERS = new RegExp(
  String.raw`\b(?:tolerated|excused|known failures?|exit (?:status|value)|` +
    String.raw`(?:each|previous|number of|many|\d) pass(?:es)?)\b`,
  "i",
);

Deno.test("docs and program use the words of the glossary", () => {
  const paths = ["README.md", "CHANGELOG.md", ...["docs", "examples", "src"].flatMap(textsIn)];
  const found = paths.flatMap((path) =>
    Deno.readTextFileSync(ROOT + path).split("\n").flatMap((line, index) => {
      const word = OTHERS.exec(line)?.[0];
      return word === undefined ? [] : [`${path}:${index + 1}: ${word}`];
    })
  );
  assertEquals(found, []);
  assertEquals(paths.length > 500, true);
});

function textsIn(directory: string): string[] {
  return [...Deno.readDirSync(ROOT + directory)].flatMap(({ name, isDirectory }) =>
    isDirectory
      ? textsIn(`${directory}/${name}`)
      : /\.(?:ts|md|yml)$/.test(name)
      ? [`${directory}/${name}`]
      : []
  );
}
