/** How to show a request or a response, as its action knows. */
export interface MessageView {
  /** The line above its fields: `GET http://localhost/`, `200 OK`. */
  readonly title?: string;
  /** Fields that the title covers, so that they are not listed. */
  readonly covered?: readonly string[];
  /** Paths of what is nearly always the same, which is only listed where details are asked for. */
  readonly minor?: readonly (readonly string[])[];
}
