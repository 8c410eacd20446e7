/** Local images in place of those of a registry: nothing is fetched. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { missingEngine } from "@svc/testkit/real/container-image";
import type { MissingPart } from "@svc/testkit/require-real";

export async function missingRootfulEngine(): Promise<MissingPart | undefined> {
  const absent = await missingEngine();
  if (absent !== undefined || process.geteuid?.() === 0) return absent;
  return { name: "root", reason: "podman builds as root here", tier: "B" };
}

/** Writes a system of busybox and the libraries that `programs` load, as Debian has them, into `file` (tar). */
export function packBase(file: string, root: string, programs: readonly string[]): void {
  for (const folder of ["bin", "tmp", "lib", "lib64"]) mkdirSync(join(root, folder), { recursive: true });
  const busybox = execFileSync("which", ["busybox"], { encoding: "utf8" }).trim();
  copyFileSync(busybox, join(root, "bin/busybox"));
  for (const command of execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n"))
    if (command !== "busybox") symlinkSync("busybox", join(root, "bin", command));
  for (const [, path] of execFileSync("ldd", programs, { encoding: "utf8" }).matchAll(/\s(\/\S+)(?= \()/g)) {
    mkdirSync(join(root, dirname(path!)), { recursive: true });
    copyFileSync(path!, join(root, path!));
  }
  execFileSync("tar", ["--create", "--file", file, "--directory", root, "."]);
}
