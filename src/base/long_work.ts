/** Who is called where something may take long, while nothing else of the program can react. */
export const longWork: { begins?: (() => void) | undefined } = {};
