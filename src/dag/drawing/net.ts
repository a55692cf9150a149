/** A bundle on its way from one row to the next: every top is joined to every bottom. */
export interface Net {
  readonly tops: readonly number[];
  readonly bottoms: readonly Bottom[];
}

/** The end of a line: with an arrow at a box, without one in a lane. */
export interface Bottom {
  readonly column: number;
  readonly arrow: boolean;
}
