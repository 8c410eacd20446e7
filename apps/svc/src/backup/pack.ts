/** Files of a folder, as the manifest lists them, into one tar.gz. */
import { createReadStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { constants, createGzip } from "node:zlib";
import { createTarPacker, type TarPackController } from "modern-tar";
import { MANIFEST, type Manifest } from "./manifest.ts";

/** `archive` must not exist; it is on disk when this resolves. The manifest comes first: who unpacks knows what to expect. */
export async function pack(folder: string, manifest: Manifest, archive: string): Promise<void> {
  const { readable, controller } = createTarPacker();
  const file = await open(archive, "wx", 0o600);
  try {
    // Not a write stream of node:fs: in a single binary its writes of several chunks at once fail.
    const written = pipeline(readable, createGzip({ level: constants.Z_BEST_SPEED }), async (chunks) => {
      for await (const chunk of chunks as AsyncIterable<Buffer>) await file.writeFile(chunk);
    });
    // Whichever of the two fails first ends the other, and is what is told.
    await Promise.all([written, fill(controller, folder, manifest).catch((error: unknown) => controller.error(error))]);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function fill(controller: TarPackController, folder: string, manifest: Manifest): Promise<void> {
  const mtime = new Date(manifest.created_at);
  const text = Buffer.from(JSON.stringify(manifest, null, 2));
  const first = controller.add({ name: MANIFEST, size: text.length, mode: 0o600, mtime }).getWriter();
  await first.write(text);
  await first.close();
  for (const { path, size } of manifest.files) {
    const file = join(folder, ...path.split("/"));
    const mode = statSync(file).mode & 0o700;
    await pipeline(createReadStream(file), controller.add({ name: path, size, mode, mtime }));
  }
  controller.finalize();
}
