/** What daemons left behind that were killed: containers of this home, and the folders of their reports. */
import { readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { openPath, removeTree } from "@svc/kit/files";
import { type Engine, ask } from "./engine.ts";
import { createHash } from "node:crypto";

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

// Whose a container is: this process, told apart from another one that had its number before.

/** `<process id>-<when it started>`. */
export async function ownerOf(pid: number): Promise<string> {
  return `${pid}-${await startOf(pid)}`;
}

async function isAlive(owner: string): Promise<boolean> {
  const pid = Number(owner.split("-")[0]);
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as { code?: unknown }).code === "ESRCH") return false; // EPERM: it is there, and another user's
  }
  return (await ownerOf(pid)) === owner;
}

/** Ticks since the machine started, proc_pid_stat(5); 0 where the system does not tell. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.replace(/^.*\) /s, "").split(" ")[19] ?? "0";
}

/** The same for one home, and telling nothing of where it is. */
export const labelOf = (homeFolder: string): string =>
  `svc.home=${createHash("sha256").update(homeFolder).digest("hex").slice(0, 16)}`;
