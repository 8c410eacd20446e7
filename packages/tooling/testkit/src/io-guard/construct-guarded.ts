/** Constructs a feature in a fresh process under the I/O guard. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { ConstructReport, ConstructRequest } from "./construct.ts";

/** Longest construction, a hanging one; also covers the start of a process on a busy machine. */
const LIMIT_MS = 200_000;

/** Rejects when the process ends without a report. */
export function constructGuarded(request: ConstructRequest): Promise<ConstructReport> {
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const args = ["--import", here("guard.ts"), here("construct.ts"), JSON.stringify(request)];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { timeout: LIMIT_MS, env: {}, maxBuffer: 1 << 24 }, (error, stdout, stderr) => {
      try {
        resolve(JSON.parse(stdout) as ConstructReport);
      } catch {
        reject(new Error(`construction gave no report: ${error?.message ?? ""} ${stderr.slice(0, 2000)}`));
      }
    });
  });
}
