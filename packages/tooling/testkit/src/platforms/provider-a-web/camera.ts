/** What a camera reads of a QR code. */
import jsqr from "jsqr";

const SCALE = 4;
const MARGIN = 4;

/** `rows`: its modules, `1` for a dark one. */
export function codeIn(rows: readonly string[]): string {
  const size = (rows.length + 2 * MARGIN) * SCALE;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const module = rows[Math.floor(y / SCALE) - MARGIN]?.[Math.floor(x / SCALE) - MARGIN];
      if (module === "1") pixels.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
    }
  }
  return codeInPicture({ pixels, width: size, height: size });
}

export interface Picture {
  /** RGBA, row by row. */
  readonly pixels: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

export function codeInPicture({ pixels, width, height }: Picture): string {
  const read = jsqr as unknown as (data: Uint8ClampedArray, width: number, height: number) => { data: string } | null;
  const found = read(pixels, width, height);
  if (!found) throw new Error("the code can't be read");
  return found.data;
}
