/** Cold starts: `--version` and the first /health against `node -e 0`, interleaved, as medians. */
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BINARY } from "./gateway.ts";
import { median, timed } from "./measure.ts";
import { startServer } from "./server.ts";

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

/** From the spawn of a daemon to its first answer on /health. It is stopped again. */
export async function startedMs(binary: string, env: NodeJS.ProcessEnv): Promise<number> {
  const server = await startServer([binary, "daemon"], env);
  const asked = performance.now();
  await health(server.port);
  const ms = server.startMs + performance.now() - asked;
  await server.stop();
  return ms;
}

export function health(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: "/health" }, (response) => {
      response.resume();
      response.on("end", resolve);
    })
      .on("error", reject)
      .end();
  });
}
