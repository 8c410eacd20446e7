/** Where the binary is, and how it is started: with nothing of this process's environment but PATH. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `SVC_BINARY`, else dist/minimal/svc of this checkout. Throws when there is none. */
export function binaryPath(env: Readonly<Record<string, string | undefined>> = process.env): string {
  const built = fileURLToPath(new URL("../../../../../dist/minimal/svc", import.meta.url));
  const path = env["SVC_BINARY"] ?? built;
  if (!existsSync(path)) throw new Error(`there is no binary at ${path}; run "pnpm build minimal", or set SVC_BINARY`);
  return path;
}

export function spawnBinary(
  binary: string,
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn(binary, args, {
    env: { PATH: process.env["PATH"] ?? "", SVC_HOME: home, ...env },
    cwd: home,
    stdio: ["pipe", "pipe", "pipe"],
  });
}
