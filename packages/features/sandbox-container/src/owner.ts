/** Whose a container is: this process, told apart from another one that had its number before. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** `<process id>-<when it started>`. */
export async function ownerOf(pid: number): Promise<string> {
  return `${pid}-${await startOf(pid)}`;
}

export async function isAlive(owner: string): Promise<boolean> {
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
