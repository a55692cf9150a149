import type { StepError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { describeValue, dictOf, isDict, type Value } from "../../base/value/value.ts";

/** What carries messages between the program and the worker of a plugin. */
interface Port {
  postMessage(message: Message): void;
  on(event: "message", listener: (message: unknown) => void): unknown;
}

/** A call, or the answer to one. */
export interface Message {
  /** An answer has that of its call; a call with 0 has no answer. */
  readonly id: number;
  /** Absent in answers. */
  readonly method?: string;
  /** The arguments, the result or a `RemoteError`; as text, since views of outputs cannot be cloned. */
  readonly json: string;
  readonly isError?: boolean;
}

/** An error that was thrown on the other side; only a `StepError` has a hint and details. */
export interface RemoteError extends Pick<Error, "message"> {
  readonly isStepError?: boolean;
  readonly stack?: string;
  readonly hint?: string;
  readonly details?: StepError["details"];
}

/** What the other side may call. Nothing is certain about the arguments. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Calls in both directions between the program and the worker of a plugin. */
export class PluginCalls {
  readonly #port: Port;
  readonly #waiting = new Map<number, PromiseWithResolvers<Value>>();
  #ids = 0;

  /** `onRubbish` is called when what arrives is not a message. */
  constructor(port: Port, methods: Methods, onRubbish = () => {}) {
    this.#port = port;
    port.on("message", (data) => {
      const message = readMessage(data);
      const value = message && tryParseJson(message.json);
      if (!message || value === undefined) return onRubbish();
      const { id, method, isError } = message;
      const waiting = this.#waiting.get(id);
      if (method === undefined) {
        if (!isError) waiting?.resolve(value);
        else waiting?.reject(readError(value));
      } else if (Object.hasOwn(methods, method) && Array.isArray(value)) {
        this.#carryOut(id, methods[method]!, value).catch(onRubbish);
      } else {
        onRubbish();
      }
    });
  }

  /** Whether every call was answered. */
  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Calls a method. Rejects with a `RemoteError`. */
  ask(method: string, ...args: readonly unknown[]): Promise<Value> {
    const waiting = Promise.withResolvers<Value>();
    const id = ++this.#ids;
    this.#waiting.set(id, waiting);
    this.#port.postMessage({ id, method, json: JSON.stringify(args) });
    return waiting.promise.finally(() => this.#waiting.delete(id));
  }

  /** Calls a method without waiting for its end. */
  tell(method: string, ...args: readonly unknown[]): void {
    this.#port.postMessage({ id: 0, method, json: JSON.stringify(args) });
  }

  /** Ends all calls that were not answered. */
  rejectAll(error: RemoteError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }

  async #carryOut(id: number, method: Methods[string], args: readonly Value[]): Promise<void> {
    let answer: Message;
    try {
      answer = { id, json: toJson(await method(...args as never[])) };
    } catch (error) {
      answer = { id, json: JSON.stringify(remoteError(error)), isError: true };
    }
    if (id !== 0) this.#port.postMessage(answer);
  }
}

/** Functions are left out, as in all JSON. */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    throw new Error("it answered with something that is not plain data");
  }
}

/** An error as it travels. A module can throw anything, also what has no text. */
export function remoteError(error: unknown): RemoteError {
  try {
    return JSON.parse(JSON.stringify(describeError(error)));
  } catch {
    return { message: "it threw what cannot be described" };
  }
}

function describeError(error: unknown): RemoteError {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, hint, details } = error as StepError;
  if (name === "StepError") return { isStepError: true, message, hint, details };
  return { message: message || name, stack };
}

/** Reads an error that a module sent: only the parts of the right type. */
export function readError(value: Value): RemoteError {
  if (!isDict(value)) return { message: describeValue(value) };
  const textOf = (part: Value | undefined) => typeof part === "string" ? part : undefined;
  const details = dictOf(value.details);
  const dict = (key: "req" | "res") => isDict(details[key]) ? { [key]: details[key] } : {};
  return {
    isStepError: value.isStepError === true,
    message: textOf(value.message) ?? "it does not say why",
    stack: textOf(value.stack),
    hint: textOf(value.hint),
    details: {
      parameter: textOf(details.parameter),
      cause: textOf(details.cause),
      ...details.isClosed === true && { isClosed: true },
      ...details.timedOut === true && { timedOut: true },
      ...dict("req"),
      ...dict("res"),
    },
  };
}

/** A message; undefined if it is none: a module can send what it likes. */
function readMessage(data: unknown): Message | undefined {
  return isDict(data) && typeof data.json === "string" ? data as unknown as Message : undefined;
}
