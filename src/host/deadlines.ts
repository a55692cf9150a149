import type { Clock } from "./host.ts";

/** A call that is due later, unless it is cancelled first. */
export interface Deadline {
  /** Takes it back. */
  cancel(): void;
}

class PendingCall implements Deadline {
  link: Link<PendingCall> | undefined;

  constructor(readonly due: number, readonly callback: () => void) {}

  cancel(): void {
    this.link?.remove();
  }
}

/**
 * Many deadlines over one timer.
 *
 * Deadlines of the same length end in the order in which they were set, so a queue for each
 * length is all the order that is needed: setting and cancelling cost the same for ten
 * thousand requests as for one. The timer stays when a deadline is cancelled, since the next
 * step has one like it, and setting a timer takes longer than all else here.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #queues = new Map<number, Chain<PendingCall>>();
  #due = Infinity;
  #disarm: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `callback` after that many milliseconds. */
  add(milliseconds: number, callback: () => void): Deadline {
    let queue = this.#queues.get(milliseconds);
    if (!queue) this.#queues.set(milliseconds, queue = new Chain());
    const entry = new PendingCall(this.#clock.ticks() + milliseconds, callback);
    entry.link = queue.add(entry);
    if (entry.due < this.#due) this.#arm(entry.due);
    return entry;
  }

  /** Cancels all of them, so that the timer does not keep the program alive. */
  cancelAll(): void {
    this.#queues.clear();
    this.#arm(Infinity);
  }

  #arm(due: number): void {
    this.#disarm?.();
    this.#disarm = undefined;
    this.#due = due;
    if (due === Infinity) return;
    this.#disarm = this.#clock.after(Math.max(0, due - this.#clock.ticks()), () => this.#expire());
  }

  #expire(): void {
    const now = this.#clock.ticks();
    const over: PendingCall[] = [];
    let next = Infinity;
    for (const [length, queue] of this.#queues) {
      for (let link = queue.first; link; link = queue.first) {
        if (link.value.due > now) {
          next = Math.min(next, link.value.due);
          break;
        }
        link.remove();
        over.push(link.value);
      }
      if (queue.isEmpty) this.#queues.delete(length);
    }
    this.#arm(next);
    over.sort((a, b) => a.due - b.due);
    for (const entry of over) entry.callback();
  }
}

/** A value in a chain, which can be taken out of it. */
export interface Link<T> {
  readonly value: T;
  /** Takes the value out; a second call does nothing. */
  remove(): void;
}

/**
 * Values in the order in which they were added. Unlike a Set it refers to a value no longer than
 * it holds it: the table that a Set has outgrown goes on referring to what it held until the next
 * full collection, and ten thousand requests are much to keep until then.
 */
export class Chain<T> {
  readonly #ends = new Node<T>(undefined as T);

  get isEmpty(): boolean {
    return this.#ends.next === this.#ends;
  }

  add(value: T): Link<T> {
    const node = new Node(value);
    node.previous = this.#ends.previous;
    node.next = this.#ends;
    node.previous.next = node;
    this.#ends.previous = node;
    return node;
  }

  /** The oldest. */
  get first(): Link<T> | undefined {
    return this.isEmpty ? undefined : this.#ends.next;
  }

  /** From the oldest on, as they are now. */
  values(): T[] {
    const values: T[] = [];
    for (let node = this.#ends.next; node !== this.#ends; node = node.next) values.push(node.value);
    return values;
  }
}

/** Alone it points to itself. */
class Node<T> implements Link<T> {
  previous: Node<T> = this;
  next: Node<T> = this;

  constructor(readonly value: T) {}

  remove(): void {
    this.previous.next = this.next;
    this.next.previous = this.previous;
    this.previous = this.next = this;
  }
}
