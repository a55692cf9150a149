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
