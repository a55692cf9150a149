/** The home of the project, of its repository and releases: a placeholder until it has one. */
export const HOME = "https://example.com/runner";

/** The same as the name of an action of GitHub. */
export const ACTION: string = HOME.replace(/^https:\/\/(?:github\.com\/)?/, "");
