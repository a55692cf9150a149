/**
 * The commit that a build was made from. A checkout has none here and reads git instead; a build
 * puts a file in the place of this one that names it.
 */
export const BUILT_FROM: string | undefined = undefined;
