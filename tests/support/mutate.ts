/** The workflows of the examples. */
export const EXAMPLES = readExamples(new URL("../../examples/", import.meta.url));

/** Typical typing mistakes: YAML and expression syntax, odd spaces, odd characters. */
const SLIPS = [
  ..."{}[]\"'`:-#&*!|>%@?,\t \n\\~<=.()0",
  ...[
    "{{",
    "}}",
    "<<: ",
    "- ",
    ": ",
    " #",
    "\r\n",
    "---\n",
    "...\n",
    "null",
    "*a ",
    "&a ",
    "!!int ",
  ],
  ...["__proto__", "\u00a0", "\ufeff", "\u2028", "é", "\u{1F600}", "\x00", "\x07"],
];

/** A text with a random mistake or with lines moved. */
export function mutate(text: string, random: (limit: number) => number): string {
  const lines = text.split("\n");
  const [line, other, at] = [random(lines.length), random(lines.length), random(text.length)];
  const slip = SLIPS[random(SLIPS.length)]!;
  switch (random(11)) {
    case 0:
      return text.slice(0, at) + text.slice(at + 1 + random(5));
    case 1:
      return text.slice(0, at) + text.slice(at, at + 1 + random(20)) + text.slice(at);
    case 2:
      return text.slice(0, at) + slip + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + slip + text.slice(at);
    case 4:
      lines.splice(line, 1 + random(3));
      break;
    case 5:
      lines.splice(line, 0, ...lines.slice(other, other + 1 + random(4)));
      break;
    case 6:
      [lines[line], lines[other]] = [lines[other]!, lines[line]!];
      break;
    case 7:
      lines[line] = " ".repeat(random(8)) + lines[line]!.trimStart();
      break;
    case 8:
      lines[line] = "\t".repeat(random(3)) + lines[line]!;
      break;
    case 9:
      return text.slice(0, at);
    default: {
      const example = EXAMPLES[random(EXAMPLES.length)]!;
      return text.slice(0, at) + example.slice(random(example.length));
    }
  }
  return lines.join("\n");
}

function readExamples(directory: URL): readonly string[] {
  const names = [...Deno.readDirSync(directory)].map(({ name }) => name)
    .filter((name) => name.endsWith(".yml")).sort();
  return names.map((name) => Deno.readTextFileSync(new URL(name, directory)));
}
