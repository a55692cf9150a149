import type { StepError } from "../base/errors.ts";
import type { Dict } from "../base/value/value.ts";

/** Describes the exchanges of an action for reports, which do not know any action. */
export interface ActionExplainer {
  /** The view of a request and a response; field by field by default. */
  readonly describe?: (req: Dict, res: Dict | null) => ExchangeDescription;
  /** The command that does the same as a request, made of this `with`. */
  readonly command?: (req: Dict, params: Dict) => CommandLine;
  /**
   * Turns what the action threw, like the error of a driver, into a message with the code that
   * people search for and what to try. Undefined where it does not know the error.
   */
  readonly explain?: (error: unknown, params: Dict) => StepError | undefined;
  /** A hint for a failed test of `res` that reads these parts, like `status` and `res.body.id`. */
  readonly testHint?: (parts: readonly string[], res: Dict) => string | undefined;
}

/** The view of a request and its response. */
export interface ExchangeDescription {
  /** The request. */
  readonly request?: MessageDescription;
  /** The response. */
  readonly response?: MessageDescription;
}

/** The view of a request or a response, and the fields that reports show, instead of all. */
export interface MessageDescription extends MessageView {
  /** The fields that reports show. */
  readonly kept?: Dict;
}

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
  /** Paths of fields that are nearly always the same; they are listed only with details. */
  readonly minor?: readonly (readonly string[])[];
  /** Pictures that belong to it, like screenshots, each as a data URI. */
  readonly images?: readonly {
    /** Its subject, in a word. */
    readonly name: string;
    /** `data:image/png;base64,…` */
    readonly data: string;
  }[];
}

/** A picture for reports. */
export type Image = NonNullable<MessageView["images"]>[number];

/** A command that does what an action did, for people to try. It holds its secrets. */
export interface CommandLine {
  /** Words, in groups that belong on one line. */
  readonly groups: readonly (readonly CommandWord[])[];
  /** The standard input of the command. */
  readonly input?: string;
  /** The preparation that it needs, in one line. */
  readonly note?: string;
}

/** A word of a command, or one with a secret, which is shown as a variable or not at all. */
export type CommandWord = string | SecretWord;

/** A word that ends in a secret: `Authorization: ` and its value. */
export interface SecretWord {
  /** What the word begins with. */
  readonly before: string;
  /** Its secret end. */
  readonly secret: string;
  /** The placeholder after `before` if no variable of the environment holds the secret. */
  readonly shown: string;
}
