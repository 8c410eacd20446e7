/** What the file system allows to the commands of a confinement. */
import { realpath } from "node:fs/promises";
import { type Confinement, SvcError } from "@svc/contract";
import type { PathRule } from "./request.ts";
import { DEVICES, SYSTEM } from "./system-paths.ts";

/** `temporary`: a folder for the session's own files. Throws SANDBOX_UNAVAILABLE. */
export async function rulesOf(confinement: Confinement, temporary: string): Promise<PathRule[]> {
  const [readable, writable] = await Promise.all([there(confinement.readable), there(confinement.writable)]);
  const rules: PathRule[] = [
    { path: await realpath(confinement.workspace), access: "write" },
    { path: temporary, access: "write" },
    ...writable.map((path): PathRule => ({ path, access: "write" })),
    ...readable.map((path): PathRule => ({ path, access: "read" })),
    ...SYSTEM.map((path): PathRule => ({ path, access: "read", optional: true })),
    ...DEVICES.map((path): PathRule => ({ path, access: "device", optional: true })),
  ];
  await refuseHidden(rules, confinement.hidden);
  return rules;
}

/** The real paths of those that are there. */
async function there(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return real.filter((path) => path !== undefined);
}

/** A rule holds for all that is below its path, and nothing can be taken out of it. */
async function refuseHidden(rules: readonly PathRule[], hidden: readonly string[]): Promise<void> {
  const real = [...hidden, ...(await there(hidden))];
  const shows = rules.some(({ path }) =>
    real.some((each) => each === path || each.startsWith(path === "/" ? "/" : `${path}/`)),
  );
  if (!shows) return;
  throw new SvcError(
    "SANDBOX_UNAVAILABLE",
    "A folder that commands may use holds one that must stay hidden, and Landlock can't leave a part of a folder out.",
    {
      hint: "Take the folder out of security.sandbox.readable and writable, or move the workspace into one of its own.",
    },
  );
}
