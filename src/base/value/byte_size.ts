/** The largest body that is kept in memory, encoded and decoded, unless a step sets another limit. */
export const BODY_LIMIT = 64 * 1024 * 1024;
