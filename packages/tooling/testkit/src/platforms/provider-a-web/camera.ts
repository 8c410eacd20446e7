/** What a camera reads of a QR code, which is told as rows of modules. */
import jsqr from "jsqr";

const SCALE = 4;
const MARGIN = 4;

export function codeIn(rows: readonly string[]): string {
  const size = (rows.length + 2 * MARGIN) * SCALE;
  const pixels = new Uint8ClampedArray(size * size * 4).fill(255);
  for (let y = 0; y < size; y += 1) {
    for (let x = 0; x < size; x += 1) {
      const module = rows[Math.floor(y / SCALE) - MARGIN]?.[Math.floor(x / SCALE) - MARGIN];
      if (module === "1") pixels.fill(0, (y * size + x) * 4, (y * size + x) * 4 + 3);
    }
  }
  const read = jsqr as unknown as (data: Uint8ClampedArray, width: number, height: number) => { data: string } | null;
  const found = read(pixels, size, size);
  if (!found) throw new Error("the code can't be read");
  return found.data;
}
