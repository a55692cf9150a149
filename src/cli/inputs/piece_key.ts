import { KEY_VARIABLE, makeSeal, type Seal } from "../../spread/seal.ts";
import type { Program } from "../command.ts";

/**
 * The key that all pieces of a run share, where the environment has one; it is taken away there, so
 * that no command inherits it. Throws RunnerError if it is too short.
 */
export async function takeKey({ host, secrets }: Program): Promise<Seal | undefined> {
  const key = host.env.get(KEY_VARIABLE);
  if (key === undefined || key === "") return undefined;
  secrets.push({ [KEY_VARIABLE]: key });
  host.env.remove(KEY_VARIABLE);
  return await makeSeal(key);
}
