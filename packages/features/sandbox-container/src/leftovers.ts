/** What daemons left behind that were killed: containers of this home, and the folders of their reports. */
import { readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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
  for (const folder of await abandoned(await readdir(tmpdir()).catch(() => []))) {
    await rm(join(tmpdir(), folder), { recursive: true, force: true }).catch(() => undefined); // another user's
  }
  return names.length;
}

async function abandoned(names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const owner = OWNED.exec(name)?.[1];
    if (owner !== undefined && !(await isAlive(owner))) found.push(name);
  }
  return found;
}
