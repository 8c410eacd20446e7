/** The text of one page: what pdf.js finds in it, in the order in which people read. */
import { filledIn } from "./form-fields.ts";
import { layOut, type Piece } from "./lay-out.ts";
import type { Pdf } from "./open-pdf.ts";
import { plain } from "./plain.ts";

/** Rejects where the page or its content can't be read. */
export async function pageText(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  try {
    const { items } = await page.getTextContent();
    const text = layOut(piecesOf(items.flatMap((item) => ("str" in item ? [item] : []))));
    return [text, (await filledIn(page)).join("\n")].filter((part) => part !== "").join("\n\n");
  } finally {
    page.cleanup();
  }
}

/** An item of pdf.js, as far as it is looked at. */
interface TextItem {
  readonly str: string;
  /** Where its origin is and which way its baseline runs, in units of the page: a, b, c, d, e, f. */
  readonly transform: readonly number[];
  /** Along the baseline, in units of the page. */
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** pdf.js tells gaps between words as items of their own, and ends of lines as a mark. */
function piecesOf(items: readonly TextItem[]): Piece[] {
  const upright = mainDirection(items);
  const pieces: Piece[] = [];
  let gapBefore = false;
  for (const { str, transform, width, height, hasEOL } of items) {
    const text = plain(str);
    if (text.trim() === "") {
      gapBefore ||= text !== "" || hasEOL;
      continue;
    }
    const [a = 1, b = 0, , , x = 0, y = 0] = transform;
    const size = height || Math.hypot(a, b) || 1;
    const length = Math.hypot(a, b) || 1;
    pieces.push({ text, gapBefore, ...box({ x, y, width, size }, { x: a / length, y: b / length }, upright) });
    gapBefore = hasEOL;
  }
  return pieces;
}

interface Vector {
  readonly x: number;
  readonly y: number;
}

const QUARTERS: readonly Vector[] = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
];

/** Which way most of the text runs: a page that was turned, or written sideways, is read as if it were upright. */
function mainDirection(items: readonly TextItem[]): Vector {
  const characters = [0, 0, 0, 0];
  for (const { str, transform } of items) characters[quarterOf(transform)]! += str.trim().length;
  return QUARTERS[characters.indexOf(Math.max(...characters))]!;
}

const quarterOf = ([a = 1, b = 0]: TextItem["transform"]): number =>
  Math.abs(a) >= Math.abs(b) ? (a >= 0 ? 0 : 2) : b >= 0 ? 1 : 3;

/** The place of a piece on a page that is held so that `upright` runs from left to right; y grows downwards. */
function box(
  { x, y, width, size }: Vector & { readonly width: number; readonly size: number },
  along: Vector,
  upright: Vector,
): Omit<Piece, "text" | "gapBefore"> {
  const across = { x: -along.y, y: along.x };
  const turned = (at: Vector): Vector => ({
    x: at.x * upright.x + at.y * upright.y,
    y: at.x * upright.y - at.y * upright.x,
  });
  const corners = [
    { x, y },
    { x: x + along.x * width, y: y + along.y * width },
    { x: x + across.x * size, y: y + across.y * size },
    { x: x + along.x * width + across.x * size, y: y + along.y * width + across.y * size },
  ].map(turned);
  const [xs, ys] = [corners.map((corner) => corner.x), corners.map((corner) => corner.y)];
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
    size,
    isLevel: Math.abs(along.x * upright.x + along.y * upright.y) > 0.99,
  };
}
