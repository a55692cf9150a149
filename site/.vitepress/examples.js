// Makes a page of each workflow in examples/, and the page that lists them.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** The pages by group; `http/*` is a page for each file there. */
const GROUPS = [
  ["First steps", ["hello", "vars", "expressions", "shell", "needs", "demo"]],
  ["Tests", ["assertions", "failing", "negative", "data", "iteration", "contract", "thresholds"]],
  ["Flow", ["retry", "skip", "repeat", "cleanup", "allowed_failures"]],
  ["HTTP", ["http", "pages", "http/*"]],
  ["Other protocols", ["db", "grpc", "websocket", "sse", "ssh", "network/*", "mail/*", "browser/*"]],
  ["Several files", ["embedded", "merge", "suite", "plugins"]],
  ["More", ["*"]],
];

/** Pages that show several files, and which of them is run if it is not the first. */
const TOGETHER = {
  embedded: { files: /^(embedded\.yml$|jobs\/)/ },
  merge: {
    files: /^merge\//,
    command: "examples/merge/shared.yml,examples/merge/checks.yml",
    about: "One workflow in two files, which are merged.",
  },
  suite: { files: /^suite\//, first: "suite/suite.yml" },
  plugins: { files: /^plugins\/[^R]/, first: "plugins/plugins.yml" },
};

/** The examples, each with the files that its page shows. */
export async function readExamples(directory) {
  const paths = await listFiles(directory);
  const together = Object.values(TOGETHER);
  const single = paths.filter((path) =>
    path.endsWith(".yml") && !together.some(({ files }) => files.test(path))
  );
  const pages = [
    ...single.map((path) => ({ name: path.slice(0, -".yml".length), paths: [path] })),
    ...Object.entries(TOGETHER).map(([name, { files, first = `${name}.yml` }]) => ({
      name,
      paths: paths.filter((path) => files.test(path)).sort((a, b) => (b === first) - (a === first)),
    })),
  ];
  const examples = await Promise.all(pages.map(async ({ name, paths }) => {
    const files = await Promise.all(paths.map(async (path) => ({
      path,
      text: (await readFile(join(directory, path), "utf8")).trim(),
    })));
    return { name, ...placeOf(name), files, ...describe(name, files) };
  }));
  return examples.sort((a, b) => a.group - b.group || a.row - b.row || (a.name < b.name ? -1 : 1));
}

async function listFiles(directory) {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

function placeOf(name) {
  const fits = (pattern) =>
    pattern === "*" || pattern === name ||
    pattern.endsWith("/*") && name.startsWith(pattern.slice(0, -1));
  const group = GROUPS.findIndex(([, patterns]) => patterns.some(fits));
  return { group, row: GROUPS[group][1].findIndex(fits) };
}

/** The title of an example is the name of its workflow; its first comment says what it shows. */
function describe(name, [{ text }]) {
  const comment = /^(?:#.*\n)+/.exec(text)?.[0] ?? "";
  const title = /^name: *"?(.*?)"?$/m.exec(text)?.[1] ?? name;
  const about = comment.replace(/^# ?/gm, "").replaceAll("\n", " ").trim();
  return { title, about: TOGETHER[name]?.about ?? (about || `${title}.`) };
}

/** The page that lists the examples. */
export function makeExampleIndex(examples) {
  const groups = GROUPS.flatMap(([title], group) => {
    const rows = examples.filter((example) => example.group === group)
      .map(({ name, about }) => `| [${name}](${name}.md) | ${about.replaceAll("|", "\\|")} |`);
    return rows.length === 0
      ? []
      : [`## ${title}`, "", "| Example | What it shows |", "|---|---|", ...rows, ""];
  });
  return [
    "# Examples",
    "",
    "Complete workflows, one for each feature. Tests run them, so what you copy works. Most of them" +
    " talk to a small shop, which `deno task shop` opens in a checkout.",
    "",
    ...groups,
  ].join("\n");
}

/** The page of an example. */
export function makeExample({ name, title, about, files }, actionPages) {
  const up = "../".repeat(name.split("/").length);
  const shown = files.flatMap(({ path, text }, index) => [
    `\`\`\`${path.endsWith(".ts") ? "ts" : path.endsWith(".yml") ? "yaml" : "sh"} [${path}]`,
    // The page says it already.
    index === 0 && text.startsWith("#") ? text.replace(/^(?:#.*\n)+/, "").trim() : text,
    "```",
    "",
  ]);
  const actions = files.flatMap(({ text }) => [...text.matchAll(/\buses: ([\w-]+)/g)]);
  const links = [...new Set(actions.map(([, action]) => action))].filter((action) => actionPages.includes(`${action}.md`))
    .map((action) => `[${action}](${up}reference/actions/${action}.md)`);
  return [
    `# ${title}`,
    "",
    about,
    "",
    "```sh",
    `runner ${TOGETHER[name]?.command ?? `examples/${files[0].path}`}`,
    "```",
    "",
    "::: code-group",
    "",
    ...shown,
    ":::",
    "",
    ...links.length === 0 ? [] : [`Actions in it: ${links.join(", ")}.`, ""],
  ].join("\n");
}

/** The list at the side of the examples. */
export function listExamples(examples) {
  return GROUPS.map(([text], group) => ({
    text,
    items: examples.filter((example) => example.group === group)
      .map(({ name }) => ({ text: name, link: `/examples/${name}` })),
  })).filter(({ items }) => items.length > 0);
}
