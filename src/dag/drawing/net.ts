/** A bundle on its way from one row to the next: every top is joined to every bottom. */
export interface Net {
  readonly tops: readonly number[];
  readonly bottoms: readonly Bottom[];
}

/** Where a line arrives: with an arrow at a box, without one where it goes on. */
export interface Bottom {
  readonly column: number;
  readonly arrow: boolean;
}
