/** The predefined CMaps. Only PDFs that bring none of their own ask for one. cmaps.make.sh says where they come from. */
import { brotliDecompressSync } from "node:zlib";

/** Of a name such as `UniGB-UCS2-H.bcmap`, in the packed form of pdf.js. Rejects where there is none of that name. */
export async function cMapOf(name: string): Promise<Uint8Array> {
  const { default: packed } = await import("./cmaps.json", { with: { type: "json" } });
  const bytesOf = new Map(Object.entries<number>(packed.bytes));
  const length = bytesOf.get(name);
  if (length === undefined) throw new Error("there is no such CMap");
  let start = 0;
  for (const [other, bytes] of bytesOf) {
    if (other === name) break;
    start += bytes;
  }
  // A copy of its own: pdf.js may keep it, and must not keep all of them.
  return new Uint8Array(brotliDecompressSync(Buffer.from(packed.brotli, "base64")).subarray(start, start + length));
}
