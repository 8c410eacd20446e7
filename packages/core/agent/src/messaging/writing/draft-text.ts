/** What of an answer that is being written can be shown in one message. */
import { isMarkerBegun, linesOf } from "../inbox/file-markers.ts";

const CUT = " …";

/** Without the lines that name files, which become files in the end. Blank: there is nothing to show yet. */
export function draftText(written: string, maxChars: number): string {
  const shown = (written.includes("[") ? withoutMarkers(written) : written).trim();
  if (shown.length <= maxChars) return shown;
  const room = maxChars - CUT.length;
  const isInPair = /[\uD800-\uDBFF]/.test(shown.charAt(room - 1));
  return `${shown.slice(0, isInPair ? room - 1 : room).trimEnd()}${CUT}`;
}

function withoutMarkers(written: string): string {
  const lines = linesOf(written);
  const last = lines.pop()!;
  const kept = lines.filter(({ names }) => names === undefined).map(({ line }) => line);
  if (last.names === undefined && (last.isCode || !isMarkerBegun(last.line))) kept.push(last.line);
  return kept.join("\n");
}
