import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { checkSocketFile } from "../../action/net/open_socket.ts";
import { readStepFile } from "../../action/step_file.ts";
import { homePath } from "./home_path.ts";
import { KeyProblem, type LoadedKey, loadKey } from "./load_key.ts";
import { type Credentials, isKeyText } from "./read_ssh.ts";

/** The ways to prove who one is, as far as a step gives them. */
export interface Proofs {
  readonly password?: string;
  readonly key?: LoadedKey;
  /** The path of the agent's socket. */
  readonly agent?: string;
}

/** Loads the key and finds the agent. Throws `StepError` if one cannot be used. */
export async function readProofs(
  { password, key, passphrase, usesAgent }: Credentials,
  context: ActionContext,
): Promise<Proofs> {
  return {
    ...password === undefined ? {} : { password },
    ...key === undefined ? {} : { key: await readKey(key, passphrase, context) },
    ...usesAgent ? { agent: await findAgent(context) } : {},
  };
}

async function readKey(
  given: string,
  passphrase: string | undefined,
  context: ActionContext,
): Promise<LoadedKey> {
  const parameter = "key_file";
  const isText = isKeyText(given);
  const text = isText ? given : new TextDecoder().decode(
    await readStepFile(
      { what: "the key", path: homePath(given, context.host), parameter },
      context,
    ),
  );
  const name = isText ? "the key" : `the key "${given}"`;
  try {
    return await loadKey(text.trim() + "\n", passphrase);
  } catch (error) {
    if (!(error instanceof KeyProblem)) throw error;
    switch (error.kind) {
      case "needs passphrase":
        throw new StepError(
          `cannot run ssh: ${name} is encrypted and needs a passphrase`,
          'write it as "key_passphrase", or use agent: true',
          { parameter },
        );
      case "wrong passphrase":
        throw new StepError(`cannot run ssh: wrong passphrase for ${name}`, undefined, {
          parameter: "key_passphrase",
        });
      case "public":
        throw new StepError(
          `cannot run ssh: ${name} is a public key`,
          "the private key has the same name without .pub",
          { parameter },
        );
      case "PuTTY":
        throw new StepError(
          `cannot run ssh: ${name} is in the format of PuTTY, which is supported for RSA in version 2`,
          "convert it: puttygen key.ppk -O private-openssh -o key, or load it into an agent: agent: true",
          { parameter },
        );
      case "not supported":
        throw new StepError(
          `cannot run ssh: ${name} is not a private key that is supported: ${error.message}`,
          "Ed25519, ECDSA and RSA keys in the formats of OpenSSH and PEM are; agent: true takes others",
          { parameter },
        );
    }
  }
}

async function findAgent(context: ActionContext): Promise<string> {
  const path = context.host.env.get("SSH_AUTH_SOCK");
  const parameter = "agent";
  if (!path) {
    throw new StepError(
      "cannot run ssh: no agent is running: SSH_AUTH_SOCK is not set",
      "start one: eval $(ssh-agent) && ssh-add",
      { parameter },
    );
  }
  await checkSocketFile(path, "cannot use the agent of ssh", parameter, context);
  return path;
}

/** Signs in by one method after another, and knows in the end what was tried. */
export interface Attempts {
  /** The next method, in the words of the library; false after the last one. */
  next(left: readonly string[] | null): unknown;
  /** Methods that were tried, and those that the server would take. */
  readonly tried: readonly string[];
  readonly offered: readonly string[];
}

/** Tries the methods for which there is a proof and that the server takes. */
export function attemptsOf(user: string, { key, agent, password }: Proofs): Attempts {
  const waiting: { readonly name: string; readonly method: unknown }[] = [
    ...key ? [{ name: "publickey", method: "publickey" }] : [],
    ...agent === undefined ? [] : [{ name: "publickey", method: "agent" }],
    ...password === undefined ? [] : [
      { name: "password", method: "password" },
      {
        name: "keyboard-interactive",
        method: {
          type: "keyboard-interactive",
          username: user,
          prompt: (
            ...[, , , prompts, answer]: [
              string,
              string,
              string,
              readonly unknown[],
              (answers: readonly string[]) => void,
            ]
          ) => answer(prompts.map(() => password)),
        },
      },
    ],
  ];
  const tried: string[] = [];
  let offered: readonly string[] = [];
  return {
    next(left) {
      if (left) offered = left;
      const index = waiting.findIndex(({ name }) => !left || left.includes(name));
      if (index < 0) return false;
      const [{ name, method } = { name: "", method: false }] = waiting.splice(index, 1);
      tried.push(name);
      return method;
    },
    tried,
    get offered() {
      return offered;
    },
  };
}
