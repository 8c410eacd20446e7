/** Cold starts: `--version` and the first /health against `node -e 0`, interleaved, as medians. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "./gateway.ts";
import { median, timed } from "./measure.ts";
import { type Server, startServer } from "./server.ts";

export interface Startup {
  readonly nodeMs: number;
  readonly versionMs: number;
  readonly healthMs: number;
}

export async function measureStartup(rounds: number): Promise<Startup> {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const env = { SVC_HOME: home, SVC__GATEWAY__PORT: "0" };
  await (await startServer([BINARY, "daemon"], env)).stop();
  const samples = { nodeMs: [] as number[], versionMs: [] as number[], healthMs: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    samples.nodeMs.push(timed(process.execPath, ["-e", "0"]));
    samples.versionMs.push(timed(BINARY, ["--version"]));
    samples.healthMs.push(await startedMs(BINARY, env));
  }
  rmSync(home, { recursive: true, force: true });
  return { nodeMs: median(samples.nodeMs), versionMs: median(samples.versionMs), healthMs: median(samples.healthMs) };
}

/** A daemon, and how long it took from its spawn to its first answer on /health: perhaps before it printed that it listens. */
export async function startAsked(
  binary: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly server: Server; readonly healthMs: number }> {
  const port = await freePort();
  const began = performance.now();
  const starting = startServer([binary, "daemon"], { ...env, SVC__GATEWAY__PORT: String(port) });
  const failed = new AbortController();
  const answered = firstAnswer(port, failed.signal);
  answered.catch(() => {}); // The start itself is reported.
  const server = await starting.catch((error: unknown) => {
    failed.abort(error);
    throw error;
  });
  return { server, healthMs: (await answered) - began };
}

/** As `startAsked`; it is stopped again. */
export async function startedMs(binary: string, env: NodeJS.ProcessEnv): Promise<number> {
  const { server, healthMs } = await startAsked(binary, env);
  await server.stop();
  return healthMs;
}

async function firstAnswer(port: number, signal: AbortSignal): Promise<number> {
  for (;;) {
    try {
      await health(port);
      return performance.now();
    } catch {
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function health(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: "/health" }, (response) => {
      response.resume();
      response.on("end", resolve);
    })
      .on("error", reject)
      .end();
  });
}
