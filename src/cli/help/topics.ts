import { ACTIONS } from "../../actions/registry.ts";

/** Topics of `runner help`, and their pages below docs/. */
const PAGES: Readonly<Record<string, string>> = {
  assertions: "concepts/assertions.md",
  certificates: "cookbook/certificates.md",
  "cheat-sheet": "start/cheat-sheet.md",
  checks: "reference/checks.md",
  ci: "ci/overview.md",
  cleanup: "concepts/cleanup.md",
  contracts: "cookbook/contract-tests.md",
  cookies: "cookbook/cookies.md",
  data: "cookbook/data.md",
  editors: "start/editors.md",
  environment: "concepts/environment.md",
  expressions: "reference/expressions.md",
  faq: "about/faq.md",
  format: "reference/file-format.md",
  functions: "reference/functions.md",
  glossary: "about/glossary.md",
  iteration: "cookbook/data.md",
  jobs: "concepts/jobs.md",
  keys: "reference/keys.md",
  loops: "concepts/retry.md",
  "beyond-one-machine": "ci/beyond-one-machine.md",
  migrate: "migrate/overview.md",
  outputs: "concepts/variables.md",
  permissions: "concepts/permissions.md",
  plugins: "reference/plugins.md",
  polling: "cookbook/polling.md",
  proxies: "cookbook/proxies.md",
  reports: "concepts/reports.md",
  retry: "concepts/retry.md",
  secrets: "concepts/secrets.md",
  sharding: "ci/sharding.md",
  "sign-in": "cookbook/sign-in.md",
  snapshots: "cookbook/snapshots.md",
  stability: "about/stability.md",
  suites: "concepts/suites.md",
  troubleshooting: "about/troubleshooting.md",
  variables: "concepts/variables.md",
};

/** Topics that are not actions. */
export const TOPICS: readonly string[] = [...Object.keys(PAGES), "machines"].sort();

/** The page of every topic and of every action. */
export function pageOf(topic: string): string | undefined {
  if (ACTIONS.some(({ name }) => name === topic)) return `reference/actions/${topic}.md`;
  return Object.hasOwn(PAGES, topic) ? PAGES[topic] : undefined;
}
