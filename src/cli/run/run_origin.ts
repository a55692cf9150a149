import { tryParseJson } from "../../base/value/parse_json.ts";
import { shellWord } from "../../base/text/shell_word.ts";
import type { Files, Host } from "../../host/host.ts";
import { machineName } from "../../host/machine.ts";
import type { RunOrigin } from "../../run/event.ts";
import { makeMasker } from "../../secrets/find_secrets.ts";
import { MASK } from "../../secrets/masker.ts";
import {
  dsnPasswords,
  isSecretName,
  SHORTEST_SECRET,
  withoutPassword,
  withoutSecretNames,
} from "../../secrets/secrets.ts";
import type { Program } from "../command.ts";

/** A CI system and its variables; `set` is there in each of its builds. */
interface CiSystem {
  readonly name: string;
  readonly set: string;
  readonly commit: string;
  /** The first that is not empty counts. */
  readonly branch: readonly string[];
  /** The address of the build, with variables in braces. */
  readonly url: string;
}

const CI_SYSTEMS: readonly CiSystem[] = [
  {
    name: "GitHub Actions",
    set: "GITHUB_ACTIONS",
    commit: "GITHUB_SHA",
    branch: ["GITHUB_HEAD_REF", "GITHUB_REF_NAME"],
    url: "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}/actions/runs/{GITHUB_RUN_ID}",
  },
  {
    name: "GitLab CI",
    set: "GITLAB_CI",
    commit: "CI_COMMIT_SHA",
    branch: ["CI_COMMIT_REF_NAME"],
    url: "{CI_JOB_URL}",
  },
  {
    name: "Jenkins",
    set: "JENKINS_URL",
    commit: "GIT_COMMIT",
    branch: ["BRANCH_NAME", "GIT_BRANCH"],
    url: "{BUILD_URL}",
  },
  {
    name: "Azure Pipelines",
    set: "TF_BUILD",
    commit: "BUILD_SOURCEVERSION",
    branch: ["BUILD_SOURCEBRANCHNAME"],
    url: "{SYSTEM_COLLECTIONURI}{SYSTEM_TEAMPROJECT}/_build/results?buildId={BUILD_BUILDID}",
  },
  {
    name: "CircleCI",
    set: "CIRCLECI",
    commit: "CIRCLE_SHA1",
    branch: ["CIRCLE_BRANCH"],
    url: "{CIRCLE_BUILD_URL}",
  },
  {
    name: "Buildkite",
    set: "BUILDKITE",
    commit: "BUILDKITE_COMMIT",
    branch: ["BUILDKITE_BRANCH"],
    url: "{BUILDKITE_BUILD_URL}",
  },
  {
    name: "Bitbucket Pipelines",
    set: "BITBUCKET_BUILD_NUMBER",
    commit: "BITBUCKET_COMMIT",
    branch: ["BITBUCKET_BRANCH"],
    url: "{BITBUCKET_GIT_HTTP_ORIGIN}/pipelines/results/{BITBUCKET_BUILD_NUMBER}",
  },
];

/** Finds out how this run was started: of a CI system its variables, else the checkout. */
export async function readOrigin(
  args: readonly string[],
  { env, files }: Pick<Host, "env" | "files">,
): Promise<RunOrigin> {
  const started = { args: shownArgs(args), host: machineName() };
  const system = CI_SYSTEMS.find(({ set }) => env.get(set));
  if (!system) return { ...started, ...await readCheckout(files) };
  const { name, commit, branch, url } = system;
  const address = url.replace(/\{(\w+)\}/g, (_, variable) => env.get(variable) ?? "");
  return {
    ...started,
    commit: env.get(commit) || undefined,
    branch: branch.map((variable) => env.get(variable)).find(Boolean),
    ci: { name, url: /^https?:\/\/[^/]/.test(address) ? address : undefined },
  };
}

/** The arguments without what they say themselves to be secret. */
function shownArgs(args: readonly string[]): readonly string[] {
  return args.map((word, index) => {
    const isVar = args[index - 1] === "--var" || word.startsWith("--var=");
    const [, start = "", name = "", value = ""] =
      (isVar && /^((?:--var=)?([^=]+?):?=)(.*)$/s.exec(word)) || [];
    if (name.split(".").some(isSecretName)) return start + MASK;
    const data = tryParseJson(value);
    if (typeof data === "object" && data !== null) {
      return start + JSON.stringify(withoutSecretNames({ [name]: data }, MASK)[name]);
    }
    return dsnPasswords(word).filter(({ length }) => length >= SHORTEST_SECRET)
      .reduce((shown, password) => shown.replaceAll(password, MASK), withoutPassword(word));
  });
}

/**
 * The command line with one more option, for a shell. A value that is or holds a secret is read
 * from a variable: one of the environment that has this value, or one with the name that it sets.
 */
export function lineWith(
  option: string,
  args: readonly string[],
  { host, secrets }: Program,
): string {
  const variables = Object.entries(host.env.all());
  const masker = makeMasker([host.env.all(), ...secrets]);
  const shown = shownArgs(args);
  const words = args.map((word, index) => {
    const isSecret = shown[index] !== word && shown[index]!.includes(MASK);
    if (!isSecret && masker.find(word).length === 0) return shellWord(word);
    const [before = "", option, name] = /^(?:--([\w-]+)=)?(?:([\w.-]+):?=)?/.exec(word)!;
    const value = word.slice(before.length);
    const [variable] = variables.find(([, known]) => known === value) ??
      [(name ?? option ?? args[index - 1] ?? "value").replace(/^-+/, "").toUpperCase()];
    return `${before}"$${variable.replace(/\W/g, "_")}"`;
  });
  const line = ["runner", option, ...words.filter((word) => word !== option)].join(" ");
  return masker.mask(line);
}

/** Reads the files of git, which is faster than to run it and needs no permission to run. */
async function readCheckout(files: Files): Promise<Pick<RunOrigin, "commit" | "branch">> {
  const read = async (path: string) => {
    const text = await files.read(path).then((bytes) => new TextDecoder().decode(bytes), () => "");
    return text.trim();
  };
  let top = files.workingDirectory();
  for (;;) {
    // In a second work tree of a repository, `.git` is a file that names its directory.
    const [, linked] = /^gitdir: (.+)$/.exec(await read(`${top}/.git`)) ?? [];
    const directory = linked ?? `${top}/.git`;
    const head = await read(`${directory}/HEAD`);
    if (head !== "") return await readHead(head, directory, read);
    const above = top.replace(/[/\\][^/\\]*$/, "");
    if (above === top) return {};
    top = above;
  }
}

async function readHead(
  head: string,
  directory: string,
  read: (path: string) => Promise<string>,
): Promise<Pick<RunOrigin, "commit" | "branch">> {
  const [, ref] = /^ref: (.+)$/.exec(head) ?? [];
  if (ref === undefined) return { commit: head };
  // The branches of a second work tree are those of the first.
  const common = await read(`${directory}/commondir`);
  const shared = common === ""
    ? directory
    : common.startsWith("/")
    ? common
    : `${directory}/${common}`;
  const packed = async () =>
    (await read(`${shared}/packed-refs`)).split("\n")
      .find((line) => line.endsWith(` ${ref}`))?.split(" ")[0];
  return {
    commit: await read(`${shared}/${ref}`) || await packed(),
    branch: ref.replace(/^refs\/heads\//, ""),
  };
}
