import { assignTracks } from "./assign_tracks.ts";
import { LineCanvas } from "./line_canvas.ts";
import type { Net } from "./net.ts";
import { splitNet } from "./split_net.ts";

/** The lines of text between two rows of boxes; none if all lanes are straight. */
export function drawChannel(nets: readonly Net[], width: number): readonly string[] {
  const parts = nets.map(splitNet);
  const hasArrows = nets.some(({ bottoms }) => bottoms.some(({ arrow }) => arrow));
  if (!hasArrows && parts.every(({ length }) => length === 0)) return [];
  const tracks = assignTracks(parts.flat());
  // The first row lets lines leave their boxes, the last one holds the arrows.
  const last = Math.max(-1, ...tracks.values()) + 2;
  const canvas = new LineCanvas(last + 1, width);
  nets.forEach(({ tops, bottoms }, net) => {
    const [upper, lower] = parts[net]!;
    if (!upper) canvas.addVertical(net, tops[0]!, -1, last + 1);
    if (lower?.joint !== undefined) {
      canvas.addVertical(net, lower.joint, tracks.get(upper!)! + 1, tracks.get(lower)! + 1);
    }
    for (const part of parts[net]!) {
      const row = tracks.get(part)! + 1;
      canvas.addHorizontal(net, row, part.left, part.right);
      for (const column of part.tops) canvas.addVertical(net, column, -1, row);
      for (const { column } of part.bottoms) canvas.addVertical(net, column, row, last + 1);
    }
    for (const { column, arrow } of bottoms) if (arrow) canvas.addArrow(last, column);
  });
  return canvas.lines();
}
