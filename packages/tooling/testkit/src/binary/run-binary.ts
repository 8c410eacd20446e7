/** Runs one command of the binary to its end. */
import { binaryPath, spawnBinary } from "./spawn-binary.ts";

export interface RunOptions {
  /** `$SVC_HOME`. */
  readonly home: string;
  readonly binary?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input; it is closed afterwards. */
  readonly input?: string;
}

export interface RunResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runBinary(args: readonly string[], options: RunOptions): Promise<RunResult> {
  const child = spawnBinary(options.binary ?? binaryPath(), args, options.home, options.env);
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  // A command that doesn't read its input may be gone before all of it is written.
  child.stdin?.on("error", () => undefined).end(options.input ?? "");
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
