/** The predefined CMaps. Only PDFs that bring none of their own ask for one. cmaps.make.sh says where they come from. */
import { brotliDecompressSync } from "node:zlib";

export class CMaps {
  #all: Promise<ReadonlyMap<string, Uint8Array>> | undefined;

  /** Of a name such as `UniGB-UCS2-H.bcmap`, in the packed form of pdf.js. Rejects where there is none of that name. */
  async find(name: string): Promise<Uint8Array> {
    const found = (await (this.#all ??= unpacked())).get(name);
    if (found === undefined) throw new Error("there is no such CMap");
    return found;
  }
}

async function unpacked(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { default: packed } = await import("./cmaps.json", { with: { type: "json" } });
  const bytes = new Uint8Array(brotliDecompressSync(Buffer.from(packed.brotli, "base64")));
  let at = 0;
  return new Map(
    Object.entries<number>(packed.bytes).map(([name, length]) => [name, bytes.slice(at, (at += length))] as const),
  );
}
