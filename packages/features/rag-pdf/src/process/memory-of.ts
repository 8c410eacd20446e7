import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";

/** Bytes of memory and swap that a process has, as the kernel counts them; undefined: it has ended, or nobody can tell. */
export async function memoryOf(pid: number): Promise<number | undefined> {
  if (process.platform === "win32") return undefined; // The process watches itself (text/inside-watch.ts).
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** proc(5): `VmRSS:     1234 kB`. A process that has ended and is not collected yet has no such line. */
async function fromProc(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? 0);
  return status === "" ? undefined : (kibibytes("VmRSS") + kibibytes("VmSwap")) * 1024;
}

function fromPs(pid: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile("/bin/ps", ["-o", "rss=", "-p", String(pid)], (error, stdout) => {
      resolve(error ? undefined : Number(stdout.trim()) * 1024);
    });
  });
}
