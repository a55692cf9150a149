/** Names of the result codes of SQLite, by the number in their last eight bits. */
const NAMES: readonly string[] = [
  ..."OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT".split(" "),
  ..."NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE".split(" "),
  ..."NOLFS AUTH FORMAT RANGE NOTADB".split(" "),
];

/** The violated constraint, by the number above the last eight bits. */
const CONSTRAINTS: readonly string[] = [
  ..."- CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE".split(" "),
  ..."VTAB ROWID PINNED DATATYPE".split(" "),
];

/** The name of a result code: `SQLITE_CONSTRAINT_UNIQUE`. */
export function sqliteCode(code: number): string {
  const name = NAMES[code & 0xff] ?? `${code & 0xff}`;
  const constraint = name === "CONSTRAINT" ? CONSTRAINTS[code >> 8] ?? "-" : "-";
  return `SQLITE_${name}${constraint === "-" ? "" : `_${constraint}`}`;
}
