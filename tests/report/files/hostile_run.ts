/** Names that try to be something else in some report. */
export const HOSTILE_NAMES: readonly string[] = [
  "# SKIP not a test",
  "back\\slash \\# end\\",
  "| a | b |\\| c",
  "<b>bold</b> & <script>alert(1)</script>",
  "`code` ``more`` ```fence```",
  "@octocat and a@b.example",
  "[link](http://evil.example) http://evil.example www.evil.example",
  "#1 GH-2 org/repo#3 :tada:",
  "*a* _b_ ~~c~~ **d** $e$ ![x](y)",
  "line\nbreak\r\nand\rmore\ttab",
  "- item",
  "1. item",
  "    indented",
  "]]> <![CDATA[ --> <!-- ?>",
  "&lt;&#64;octocat &amp;",
  "\"quotes\" 'both'",
  "\x00\x01\x07\x08\x0b\x0c\x1b[31mred\x1b[0m\x7f\x9b\ufffe\uffff",
  "\u202eright to left\u2066\u2028\u2029end",
  "é漢字😀👩‍👩‍👧 ẞ",
  "ok 1 - Bail out! # TODO",
  "::error::x",
  "##[error]x",
  "%0A::error::x",
  "{{ not a template",
  "</summary></details></table>",
  "</testcase></testsuite>",
  "constructor",
  "__proto__",
];

/** Returns a name with visible control characters, and spaces in place of line ends. */
export function inOneLine(name: string): string {
  return name.replaceAll("\r\n", "\n")
    // deno-lint-ignore no-control-regex
    .replace(/[\0-\x08\x0b-\x1f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)))
    .replace("\x7f", "␡")
    .replace(/[\x80-\x9f\u2028-\u202e\u2066-\u2069]/g, "\ufffd")
    .replace(/\s+/g, " ").trim();
}

/**
 * A workflow whose steps have these names, say them and fail because of them; its jobs and the
 * workflow itself have them, too.
 */
export function hostileWorkflow(): string {
  const steps = HOSTILE_NAMES.map((_, index) => {
    const name = `{{vars.names[${index}]}}`;
    return {
      name,
      uses: "hello",
      with: { to: name },
      echo: name,
      test: `res.to == "${index}" || false`,
    };
  });
  const jobs = HOSTILE_NAMES.map((_, index) => {
    return { name: `{{vars.names[${index}]}}`, steps: [{ uses: "hello", test: "true" }] };
  });
  const vars = { names: HOSTILE_NAMES.map((name) => name.replaceAll("{{", "{{'{{'}}")) };
  return JSON.stringify({
    name: HOSTILE_NAMES.join(" "),
    description: HOSTILE_NAMES.join(" "),
    vars,
    jobs: [{ name: "all", steps }, ...jobs],
  }).replace(
    /[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
