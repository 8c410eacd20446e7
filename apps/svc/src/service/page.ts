/** The files of the page: out of the binary, or what `pnpm dev` has built when the sources run. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getRawAsset, isSea } from "node:sea";
import type { PageFile } from "@svc/gateway";

/** By the path that a browser asks for. Read when the gateway opens, and by no command. */
export async function loadPage(): Promise<ReadonlyMap<string, PageFile>> {
  const read = isSea() ? embedded : built;
  const entries = JSON.parse(new TextDecoder().decode(await read("page.json"))) as PageEntry[];
  const files = entries.map(async ({ path, file, gzip, type, immutable }): Promise<[string, PageFile]> => {
    const [bytes, gzipped] = await Promise.all([read(file), gzip === null ? undefined : read(gzip)]);
    return [path, { type, bytes, ...(gzipped && { gzip: gzipped }), isImmutable: immutable }];
  });
  return new Map(await Promise.all(files));
}

/** As packages/tooling/compose/src/page.ts writes it. */
interface PageEntry {
  readonly path: string;
  readonly file: string;
  readonly gzip: string | null;
  readonly type: string;
  readonly immutable: boolean;
}

/** A view of the binary as it lies in memory: nothing is copied. */
const embedded = async (name: string): Promise<Uint8Array> => new Uint8Array(getRawAsset(`page/${name}`));

const built = (name: string): Promise<Uint8Array> =>
  readFile(join(import.meta.dirname, "../../../dashboard/dist", name));
