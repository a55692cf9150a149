// The website for docs/. The pages must stay readable on GitHub, so all site settings are here.
import { copyFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";

const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const require = createRequire(import.meta.url);

const page = (text, link) => ({ text, link });

const SIDEBAR = [
  {
    text: "Get started",
    items: [
      page("Install", "/install"),
      page("A tour in five minutes", "/tour"),
      page("Moving from Probe", "/from-probe"),
    ],
  },
  {
    text: "Write workflows",
    items: [
      page("The file format", "/file-format"),
      page("Keys", "/reference/keys"),
      page("Expressions", "/expressions"),
      page("Functions", "/reference/functions"),
      page("Data-driven tests", "/data"),
      page("Polling and loops", "/loops"),
      page("Cleanup", "/cleanup"),
      page("Recipes", "/recipes"),
    ],
  },
  {
    text: "Actions",
    items: ["http", "shell", "echo", "hello", "tcp", "tls", "dns", "redis", "db", "embedded"]
      .map((name) => page(name, `/reference/actions/${name}`))
      .concat(page("Plugins", "/extending")),
  },
  {
    text: "HTTP",
    items: [
      page("Sign in", "/sign-in"),
      page("Cookies", "/cookies"),
      page("Certificates and mutual TLS", "/certificates"),
      page("Proxies and other ways to connect", "/connections"),
      page("Upload files", "/upload"),
      page("Download and verify", "/download"),
      page("GraphQL", "/graphql"),
    ],
  },
  {
    text: "Run workflows",
    items: [
      page("The command line", "/cli"),
      page("Commands and options", "/reference/cli"),
      page("The environment", "/environment"),
      page("Environment variables", "/reference/environment"),
      page("Suites", "/suites"),
      page("Reports", "/reports"),
      page("Report formats", "/reference/reports"),
      page("Checks", "/reference/checks"),
      page("In CI and from cron", "/ci"),
      page("Security", "/security"),
      page("Troubleshooting", "/troubleshooting"),
    ],
  },
  { text: "Use runner from a program", items: [page("The library", "/library")] },
];

export default defineConfig({
  title: "runner",
  description: "Executes workflows in YAML: test APIs, smoke-test releases, monitor services",
  head: [["link", { rel: "icon", href: "data:," }]],
  srcDir: "../docs",
  outDir: "dist",
  // Pages link to each other as files, which also works from a local directory.
  cleanUrls: false,
  themeConfig: {
    search: { provider: "local" },
    sidebar: SIDEBAR,
    outline: [2, 3],
  },
  markdown: {
    config(md) {
      // {{ … }} is the template syntax of workflows, not of Vue.
      const escape = (text) => md.utils.escapeHtml(text).replaceAll("{{", "&#123;&#123;");
      md.renderer.rules.text = (tokens, index) => escape(tokens[index].content);
      md.renderer.rules.code_inline = (tokens, index) =>
        `<code>${escape(tokens[index].content)}</code>`;
    },
  },
  vite: {
    // docs/ is outside the directory with node_modules.
    resolve: {
      alias: [
        { find: /^vue$/, replacement: require.resolve("vue/dist/vue.runtime.esm-bundler.js") },
        { find: /^vue\/server-renderer$/, replacement: require.resolve("vue/server-renderer") },
      ],
    },
  },
  /** Copies the JSON Schemas that pages link to. */
  async buildEnd({ outDir }) {
    for (const name of await readdir(DOCS)) {
      if (name.endsWith(".json")) await copyFile(`${DOCS}${name}`, `${outDir}/${name}`);
    }
  },
});
