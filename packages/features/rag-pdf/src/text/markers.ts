/** Bullets and numbers of lists that were written apart from their lines, before or after all of them. */
import { type Line, lineOf } from "./lines.ts";

const MOST_CHARS = 4;
/** Between a marker and its line, in heights of the font. */
const MOST_GAP = 3;

export function withMarkers(lines: readonly Line[]): Line[] {
  const joined = new Map<Line, Line>();
  const gone = new Set<Line>();
  for (const marker of lines) {
    if (marker.cells.length > 1 || marker.text.length > MOST_CHARS || !marker.isLevel) continue;
    const line = lines.find(
      (other) => other !== marker && !joined.has(other) && !gone.has(other) && isMarkerOf(marker, other),
    );
    if (line === undefined) continue;
    const [first, ...others] = line.cells;
    const cell = { ...first!, left: marker.left, text: `${marker.text.trim()} ${first!.text.trim()}` };
    joined.set(line, lineOf([cell, ...others], true));
    gone.add(marker);
  }
  return lines.filter((line) => !gone.has(line)).map((line) => joined.get(line) ?? line);
}

function isMarkerOf(marker: Line, line: Line): boolean {
  const gap = line.left - marker.right;
  return (
    line.isLevel &&
    line.text.length > MOST_CHARS &&
    Math.abs(line.bottom - marker.bottom) < line.size * 0.3 &&
    gap > -line.size * 0.2 &&
    gap < line.size * MOST_GAP
  );
}
