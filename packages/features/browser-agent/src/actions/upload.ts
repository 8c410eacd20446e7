import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Outcome, Running } from "./perform.ts";
import { elementOf } from "./target.ts";

/** Copies stay until the browser is closed: a page reads them when it is submitted. */
export async function upload(target: string, { run, folder, call }: Running): Promise<Outcome> {
  const element = elementOf(target);
  const batch = await mkdtemp(join(folder.files, "upload-"));
  const paths: string[] = [];
  for (const [place, { name, bytes }] of call.files.entries()) {
    // Two files of one name are two files.
    await mkdir(join(batch, String(place)));
    const path = join(batch, String(place), name);
    await writeFile(path, bytes, { flag: "wx", mode: 0o600 });
    paths.push(path);
  }
  await run(["upload", element, ...paths]);
  return {};
}
