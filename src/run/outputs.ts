import { copyValue } from "../value/copy_value.ts";
import type { Dict, Value } from "../value/value.ts";

/**
 * What steps have published: `view` is what expressions see as `outputs`.
 *
 * A flat name belongs to the first step that publishes it. Only that step overwrites it, and it
 * never takes a name that is the id of a step.
 */
export class Outputs {
  readonly #stepIds: ReadonlySet<string>;
  readonly #owners: Map<string, string>;
  readonly #view: Record<string, Value>;

  constructor(stepIds: ReadonlySet<string>, base?: Outputs) {
    this.#stepIds = stepIds;
    this.#owners = new Map(base ? base.#owners : []);
    this.#view = Object.assign(Object.create(null), base ? base.#view : {});
  }

  get view(): Dict {
    return this.#view;
  }

  /** Publishes the outputs of a step. Throws RangeError when they are too large to keep. */
  publish(stepId: string, values: Dict): void {
    // A copy: a value that holds `outputs` itself would otherwise contain itself.
    const copy = copyValue(values) as Dict;
    this.#view[stepId] = copy;
    for (const [name, value] of Object.entries(copy)) {
      if (this.#stepIds.has(name)) continue;
      const owner = this.#owners.get(name) ?? stepId;
      if (owner !== stepId) continue;
      this.#owners.set(name, owner);
      this.#view[name] = value;
    }
  }
}

const NOTHING: ReadonlyMap<string, Dict> = new Map();

/**
 * The outputs that one round of a repeated job sees: those from before the job, and its own.
 * Rounds may run side by side, and must not see each other.
 */
export class RoundOutputs {
  readonly #base: Outputs;
  readonly #stepIds: ReadonlySet<string>;
  #own: Outputs | undefined;
  #published: Map<string, Dict> | undefined;

  constructor(base: Outputs, stepIds: ReadonlySet<string>) {
    this.#base = base;
    this.#stepIds = stepIds;
  }

  get view(): Dict {
    return (this.#own ?? this.#base).view;
  }

  /** What its steps have published, by their ids. */
  get published(): ReadonlyMap<string, Dict> {
    return this.#published ?? NOTHING;
  }

  publish(stepId: string, values: Dict): void {
    this.#own ??= new Outputs(this.#stepIds, this.#base);
    this.#own.publish(stepId, values);
    (this.#published ??= new Map()).set(stepId, values);
  }
}
