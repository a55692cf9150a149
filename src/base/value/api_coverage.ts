/** The part of an API that a run has used. Plain data, part of the events of a run. */
export interface ApiCoverage {
  /** The description, as it was named. */
  readonly file: string;
  /** The title of the API. */
  readonly title: string;
  /** Every operation, in the order of the description. */
  readonly operations: readonly OperationCoverage[];
}

/** The part of an operation that a run has used. */
export interface OperationCoverage {
  /** In upper case. */
  readonly method: string;
  /** With its parameters in braces: `/pets/{petId}`. */
  readonly path: string;
  /** The `operationId`. */
  readonly id?: string;
  /** The number of requests for it. */
  readonly hits: number;
  /** The responses that are described, and those that came without being described. */
  readonly statuses: readonly StatusCoverage[];
  /** Its parameters. */
  readonly parameters: readonly ParameterCoverage[];
}

/** The number of responses with a status. */
export interface StatusCoverage {
  /** `200`, `4XX`, `default`. */
  readonly status: string;
  /** The number of responses that had it. */
  readonly hits: number;
  /** It is not in the description. */
  readonly undescribed?: true;
}

/** The number of requests with a parameter. */
export interface ParameterCoverage {
  /** Where it is: `query`. */
  readonly in: string;
  /** Its name. */
  readonly name: string;
  /** The number of requests that had it. */
  readonly hits: number;
}
