/** The view of a request or a response, defined by its action. */
export interface MessageView {
  /** The line above its fields: `GET http://localhost/`, `200 OK`. */
  readonly title?: string;
  /** Fields that the title covers, so that they are not listed. */
  readonly covered?: readonly string[];
  /** Fields that are shown as JSON also where they would fit into lines of names and values. */
  readonly asJson?: readonly string[];
  /** Fields that hold rows: lists of maps by column, or of lists beside a field `columns`. */
  readonly asTable?: readonly string[];
  /** Paths of what is nearly always the same, which is only listed where details are asked for. */
  readonly minor?: readonly (readonly string[])[];
  /** Pictures that belong to it, like screenshots, each as a data URI. */
  readonly images?: readonly {
    /** Its subject, in a word. */
    readonly name: string;
    /** `data:image/png;base64,…` */
    readonly data: string;
  }[];
}
