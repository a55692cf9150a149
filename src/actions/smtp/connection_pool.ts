import type { ActionContext } from "../../action/action.ts";
import { onAbort } from "../../action/on_abort.ts";
import type { MailConnection } from "./mail_connection.ts";

/** Connections to one server, of which each serves one session at a time. */
export class ConnectionPool {
  readonly #idle: MailConnection[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  /**
   * Passes a connection to `use`: one that is idle, or a new one as long as fewer than `most` are
   * busy. Otherwise it waits for one.
   */
  async with<T>(
    most: number,
    context: ActionContext,
    open: () => Promise<MailConnection>,
    use: (connection: MailConnection) => Promise<T>,
  ): Promise<T> {
    while (this.#busy >= most) await this.#turn(context);
    this.#busy++;
    try {
      const connection = await this.#take(context) ?? await open();
      try {
        return await use(connection);
      } finally {
        if (!connection.isLost) this.#idle.push(connection);
      }
    } finally {
      this.#busy--;
      this.#waiting.shift()?.();
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #take(context: ActionContext): Promise<MailConnection | undefined> {
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (await last.renew(context)) return last;
    }
    return undefined;
  }

  async #turn({ signal }: ActionContext): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    const forget = onAbort(signal, reject);
    await promise.finally(forget);
  }
}
