/** Where the binary is, and how it is started: with nothing of this process's environment but PATH. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `SVC_BINARY`, else dist/minimal/svc of this checkout. Throws if the file is missing. */
export function binaryPath(env: Readonly<Record<string, string | undefined>> = process.env): string {
  return existing(env["SVC_BINARY"] ?? built("minimal"), "minimal");
}

/** `SVC_BINARY_ALL`, else dist/all/svc of this checkout: every feature. Throws if the file is missing. */
export const fullestBinaryPath = (env: Readonly<Record<string, string | undefined>> = process.env): string =>
  existing(env["SVC_BINARY_ALL"] ?? built("all"), "all");

const built = (profile: string): string =>
  fileURLToPath(new URL(`../../../../../dist/${profile}/svc`, import.meta.url));

function existing(path: string, profile: string): string {
  if (existsSync(path)) return path;
  throw new Error(
    `there is no binary at ${path}; run "pnpm build ${profile}", or set ${profile === "all" ? "SVC_BINARY_ALL" : "SVC_BINARY"}`,
  );
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
