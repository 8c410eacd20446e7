/** Servers under test as processes of their own: started, measured, stopped by pid. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { LoadOptions, LoadResult } from "./load.ts";

export interface Server {
  readonly pid: number;
  readonly port: number;
  /** What it printed until it listened. */
  readonly output: string;
  /** From spawn to the line that says it listens. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export function startServer(
  command: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Server> {
  const [program, ...args] = command;
  const startedAt = performance.now();
  const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr.resume();
  // A bench that ends half-way must not leave its servers behind.
  const kill = (): boolean => child.kill("SIGKILL");
  process.once("exit", kill);
  child.once("exit", () => process.off("exit", kill));
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code} before it listened:\n${output}`)));
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]);
      if (!port) return;
      const startMs = performance.now() - startedAt;
      // What it prints after that line belongs to its greeting.
      setTimeout(() => resolve({ pid: child.pid!, port, output, startMs, stop: () => stop(child) }), 200);
    });
  });
}

async function stop(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

/** Anonymous resident memory in MB: what is the program's own, not the mapped file. */
export function anonymousMb(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

/** Milliseconds that the processor has worked for its threads; unlike a wait, other programs on the machine add little to it. */
export function processorMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const nanoseconds = threads.map((id) =>
    Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]),
  );
  return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Runs the load generator beside the server. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const child = spawn(process.execPath, [fileURLToPath(new URL("load.ts", import.meta.url)), JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  for await (const chunk of child.stdout) text += String(chunk);
  return JSON.parse(text) as LoadResult;
}
