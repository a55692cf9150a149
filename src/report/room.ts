/** How wide lines may be. */
export interface Room {
  readonly columns: number;
  /** Whether a sentence that is wider goes on in the next line. */
  readonly wraps: boolean;
}

/** Where nothing but programs such as grep may read: a sentence stays in one line there. */
export const IN_A_PIPE: Room = { columns: 100, wraps: false };

const LEAST_COLUMNS = 12;

/** The room of a terminal of that many columns, or of a pipe. */
export function roomOf(columns: number | undefined): Room {
  return columns === undefined ? IN_A_PIPE : { columns, wraps: true };
}

/** What is left of a room for lines that are indented. */
export function indentedRoom(room: Room, columns: number): Room {
  if (!room.wraps) return room;
  return { ...room, columns: Math.max(LEAST_COLUMNS, room.columns - columns) };
}
