/** What daemons left behind that were killed: containers of this home, and the folders of their reports. */
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { openPath, removeTree } from "@svc/kit/files";
import { ask, type Engine } from "./engine.ts";
import { isAlive } from "./owner.ts";

/** Names of containers and of folders begin like this; then comes the owner. */
export const PREFIX = "svc-container-";

const OWNED = new RegExp(`^${PREFIX}([0-9]+-[0-9]+)-`);

/** How many containers were removed. */
export async function removeLeftovers(engine: Engine, label: string, signal: AbortSignal): Promise<number> {
  const list = await ask(engine, ["ps", "--all", `--filter=label=${label}`, "--format={{.Names}}"], signal);
  const names = await abandoned(list.stdout.split("\n"));
  if (names.length > 0) await ask(engine, ["rm", "--force", "--volumes", ...names], signal);
  await removeReports();
  return names.length;
}

/** Anybody may make a folder of such a name: only what belongs to this user is removed, and by its descriptor. */
async function removeReports(): Promise<void> {
  await using temporary = await openPath(tmpdir());
  for (const name of await abandoned(await readdir(temporary.via))) {
    await using folder = await temporary.enter(name).catch(() => undefined);
    const isOurs = folder?.stats.isDirectory() && folder.stats.uid === (process.geteuid?.() ?? folder.stats.uid);
    if (isOurs) await removeTree(temporary, name);
  }
}

async function abandoned(names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const owner = OWNED.exec(name)?.[1];
    if (owner !== undefined && !(await isAlive(owner))) found.push(name);
  }
  return found;
}
