/** The home of the project, of its repository and releases: a placeholder until it has one. */
export const HOME = "https://example.com/runner";
