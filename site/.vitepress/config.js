// The website. The pages must stay readable on GitHub, so everything that only the site needs is
// here and in theme/: docs/ holds plain Markdown.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { defineConfig } from "vitepress";
import { HOME } from "../../src/base/home.ts";
import { colourOutput, isOutput, renderOutput } from "./colour_output.js";
import { describePage } from "./describe_page.js";
import { listExamples } from "./examples.js";
import { layOutTables } from "./lay_out_tables.js";
import { makePages, PAGES } from "./make_pages.js";
import { searchIn } from "./search.js";
import { SIDEBAR } from "./sidebar.js";
import { writeTexts } from "./write_texts.js";

const BASE = process.env.SITE_BASE ?? "/";
const SLOGAN = "Test APIs and smoke-test releases from one YAML file. " +
  "When a check fails, it shows you why.";

const { examples } = await makePages();

export default defineConfig({
  title: "runner",
  description: SLOGAN,
  lang: "en",
  base: BASE,
  srcDir: ".pages",
  outDir: "dist",
  // Pages link to each other as files, which also works from a local directory.
  cleanUrls: false,
  head: [
    ["link", { rel: "icon", type: "image/svg+xml", href: `${BASE}logo.svg` }],
    ["meta", { name: "theme-color", content: "#0f766e" }],
    ["meta", { property: "og:type", content: "website" }],
    ["meta", { property: "og:site_name", content: "runner" }],
  ],
  themeConfig: {
    logo: { src: "/logo.svg", alt: "" },
    search: { provider: "local", options: searchIn(BASE) },
    nav: [
      { text: "Docs", link: "/docs", activeMatch: "^/(docs|start|concepts|cookbook|ci|migrate|reference|about)" },
      { text: "Examples", link: "/examples/", activeMatch: "^/examples/" },
      { text: "Changelog", link: "/changelog" },
    ],
    sidebar: {
      "/examples/": [{ text: "Examples", link: "/examples/" }, ...listExamples(examples)],
      "/": [{ text: "Overview", link: "/docs" }, ...SIDEBAR.map(linkSection)],
    },
    socialLinks: [{ icon: "github", link: HOME, ariaLabel: "The repository" }],
    outline: { level: [2, 3], label: "On this page" },
    editLink: {
      text: "Edit this page",
      pattern: ({ frontmatter }) => frontmatter.source,
    },
    notFound: {
      title: "Page not found",
      quote: "The page may have moved: the search finds it by its words.",
      linkText: "Go to the first page",
      linkLabel: "Go to the first page",
    },
    footer: {
      message: `MIT License · loads nothing from other hosts · <a href="${BASE}llms.txt">llms.txt</a>`,
    },
  },
  markdown: {
    // Braces are those of workflows.
    attrs: { disable: true },
    theme: { light: "github-light-high-contrast", dark: "github-dark-default" },
    config(md) {
      // {{ … }} is the template syntax of workflows, not of Vue.
      const escape = (text) => md.utils.escapeHtml(text).replaceAll("{{", "&#123;&#123;");
      md.renderer.rules.text = (tokens, index) => escape(tokens[index].content);
      md.renderer.rules.code_inline = (tokens, index) =>
        `<code>${escape(tokens[index].content)}</code>`;
      const { fence } = md.renderer.rules;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index];
        if (info === "ansi") return renderOutput(content, md.utils.escapeHtml);
        if (["", "text"].includes(info) && isOutput(content)) {
          return renderOutput(colourOutput(content), md.utils.escapeHtml);
        }
        const file = fileOf(tokens, index);
        const html = fence(tokens, index, ...rest);
        if (file === undefined) return html;
        const label = `<span class="lang file">${md.utils.escapeHtml(file)}</span>`;
        return html.replace(/<span class="lang">[^<]*<\/span>/, () => label);
      };
      layOutTables(md);
    },
  },
  async transformPageData(page) {
    const text = await readFile(join(PAGES, page.relativePath), "utf8");
    const source = sourceOf(page.relativePath, text);
    const about = describePage(text) ?? SLOGAN;
    return {
      // A short sentence could be that of several pages.
      description: about.length < 100 && page.title !== "" ? `${page.title}: ${about}` : about,
      frontmatter: {
        ...page.frontmatter,
        ...source === undefined ? { editLink: false } : { source: `${HOME}/edit/main/${source}` },
      },
    };
  },
  transformHead({ title, description }) {
    return [
      ["meta", { property: "og:title", content: title }],
      ["meta", { property: "og:description", content: description }],
    ];
  },
  vite: { publicDir: join(PAGES, "../public") },
  buildEnd: ({ outDir }) => writeTexts(outDir),
});

/** The name of the file that a block shows: a comment before the block has it, for the tests. */
function fileOf(tokens, index) {
  for (let at = index - 1; tokens[at]?.type === "html_block"; at--) {
    const [, file] = /<!-- file: (\S+) -->/.exec(tokens[at].content) ?? [];
    if (file !== undefined) return file;
  }
  return undefined;
}

/** The title of a section leads to its first page: a button in a button is no good for a reader. */
function linkSection({ text, items, ...section }) {
  // It is not a page of docs/, where the list of pages comes from.
  const more = text === "About" ? [{ text: "Changelog", link: "/changelog" }] : [];
  return { ...section, text, items: [...items, ...more], link: items[0].link };
}

/** The file that a page is made from, which a reader may edit. */
function sourceOf(path, text) {
  if (path === "index.md") return "site/home.md";
  if (path === "docs.md") return "docs/index.md";
  if (path === "changelog.md") return "CHANGELOG.md";
  const example = examples.find(({ name }) => path === `examples/${name}.md`);
  if (example) return `examples/${example.files[0].path}`;
  if (path.startsWith("examples/")) return undefined;
  // A generated page names what it is made from.
  const generated = /^<!-- Generated by .*?from (.*): change/.exec(text)?.[1] ?? "";
  const made = generated.match(/(?:src|scripts)\/[\w./-]+/g) ?? [];
  return made.find((it) => it.endsWith(".md")) ?? made[0] ?? `docs/${path}`;
}
