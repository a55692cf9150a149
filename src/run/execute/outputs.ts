import { copyValue, type Dict, isDict, type Value } from "../../base/value/value.ts";
import { ALL, hasAll } from "../../workflow/step_facts.ts";
import type { Step } from "../../workflow/model.ts";

/** The ids of steps, and whether each has the list of the outputs of all its entries. */
type StepIds = ReadonlyMap<string, boolean>;

export function stepIdsOf(steps: readonly Step[]): StepIds {
  return new Map(steps.flatMap((step) => step.id === undefined ? [] : [[step.id, hasAll(step)]]));
}

/**
 * The outputs of steps.
 *
 * A flat name belongs to the first step that publishes it. Only that step overwrites it, and it
 * never takes a name that is the id of a step.
 */
export class Outputs {
  readonly #stepIds: StepIds;
  readonly #base: Outputs | undefined;
  readonly #owners = new Map<string, string>();
  readonly #published: Record<string, Value> = Object.create(null);
  readonly #rounds = new Map<string, number>();
  /** Of steps in a matrix: what the jobs of this run published. */
  readonly #matrices = new Map<string, Dict>();
  /** The outputs that expressions see, layered over `base` if there is one. */
  readonly view: Dict;

  constructor(stepIds: StepIds, base?: Outputs) {
    this.#stepIds = stepIds;
    this.#base = base;
    this.view = base ? new Proxy(this.#published, new Layers(base.view)) : this.#published;
  }

  /**
   * Publishes the outputs of a step, of this round where its job repeats. Throws LimitError when
   * they are too large to keep.
   */
  publish(stepId: string, values: Dict, round?: number): void {
    if (round !== undefined) this.#rounds.set(stepId, round);
    // A copy: a value that holds `outputs` itself would otherwise contain itself.
    const copy = copyValue(values) as Dict;
    this.#published[stepId] = copy;
    for (const [name, value] of Object.entries(copy)) {
      if (this.#stepIds.has(name) || name === ALL && this.#stepIds.get(stepId)) continue;
      const owner = this.#ownerOf(name) ?? stepId;
      if (owner !== stepId) continue;
      this.#owners.set(name, owner);
      this.#published[name] = value;
    }
  }

  /**
   * Makes the outputs of a round or of a parallel entry: it sees these and its own, but not those
   * of rounds that run in parallel.
   */
  fork(): Outputs {
    return new Outputs(this.#stepIds, this);
  }

  /** Adds the list of the outputs of all entries of a step. */
  publishAll(stepId: string, all: readonly Dict[]): void {
    this.#published[stepId] = { ...this.#published[stepId] as Dict | undefined, [ALL]: all };
  }

  /** Publishes the list of the outputs of a step in all jobs of a matrix; the base may have some. */
  publishMatrix(stepId: string, all: readonly Dict[]): void {
    const before = this.#base?.view[stepId];
    const known = isDict(before) && Array.isArray(before[ALL]) ? before[ALL] as Dict[] : [];
    this.#matrices.set(stepId, { [ALL]: all });
    this.#published[stepId] = { [ALL]: [...known, ...all] };
  }

  /** The outputs of its steps, without those of the base. */
  ofSteps(): StepOutputs {
    return Object.fromEntries(
      Object.entries(this.#published).filter(([name]) => this.#stepIds.has(name))
        .map(([name, values]) => [name, this.#matrices.get(name) ?? values]),
    ) as StepOutputs;
  }

  /** The round that the outputs of each step of a repeated job are from. */
  get rounds(): ReadonlyMap<string, number> {
    return this.#rounds;
  }

  #ownerOf(name: string): string | undefined {
    const owner = this.#owners.get(name);
    return owner === undefined && this.#base ? this.#base.#ownerOf(name) : owner;
  }
}

/** The outputs of steps, by their ids. */
export type StepOutputs = Readonly<Record<string, Dict>>;

/**
 * Makes the outputs of a run that also sees those of other runs, by the ids of their steps, except
 * ids of its own steps. `before` was published by its own steps on other machines.
 */
export function openOutputs(
  stepIds: StepIds,
  visible: StepOutputs = {},
  before: readonly (readonly [stepId: string, values: Dict])[] = [],
): Outputs {
  const others = Object.entries(visible).filter(([id]) => !stepIds.has(id));
  // Every flat name is the id of a step here, so that none is published.
  const names = others.flatMap(([id, values]) => [id, ...Object.keys(values)]);
  const layers = [
    { ids: new Map(names.map((name) => [name, false])), outputs: others },
    { ids: stepIds, outputs: before },
  ].filter(({ outputs }) => outputs.length > 0);
  const base = layers.reduce<Outputs | undefined>((below, { ids, outputs }) => {
    const layer = new Outputs(ids, below);
    for (const [id, values] of outputs) layer.publish(id, values);
    return layer;
  }, undefined);
  return new Outputs(stepIds, base);
}

/**
 * Shows two maps as one, with the upper one first. Copying the lower one for each round would be
 * quadratic.
 */
class Layers implements ProxyHandler<Dict> {
  readonly #lower: Dict;

  constructor(lower: Dict) {
    this.#lower = lower;
  }

  get(upper: Dict, key: string | symbol): unknown {
    return Reflect.get(this.#layerOf(upper, key), key);
  }

  has(upper: Dict, key: string | symbol): boolean {
    return Reflect.has(this.#layerOf(upper, key), key);
  }

  getOwnPropertyDescriptor(upper: Dict, key: string | symbol): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.#layerOf(upper, key), key);
  }

  ownKeys(upper: Dict): (string | symbol)[] {
    return [...new Set([...Reflect.ownKeys(this.#lower), ...Reflect.ownKeys(upper)])];
  }

  #layerOf(upper: Dict, key: string | symbol): Dict {
    return Object.hasOwn(upper, key) ? upper : this.#lower;
  }
}
