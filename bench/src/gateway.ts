/** The gateway binary in a home of its own, paired, with the limit that a scenario wants. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Server, startServer } from "./server.ts";

export const BINARY = resolve(import.meta.dirname, "../../dist/minimal/svc");

export interface BenchGateway extends Server {
  readonly token: string;
  readonly home: string;
}

export async function startGateway(ratePerMinute: number, binary: string = BINARY): Promise<BenchGateway> {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  const server = await startServer([binary, "daemon"], {
    SVC_HOME: home,
    SVC__GATEWAY__PORT: "0",
    SVC__GATEWAY__WEBHOOK_RATE_LIMIT_PER_MINUTE: String(ratePerMinute),
  });
  const code = /pairing code: (\d{6})/.exec(server.output)![1]!;
  const answer = await fetch(`http://127.0.0.1:${server.port}/pair`, {
    method: "POST",
    headers: { "x-pairing-code": code },
  });
  const { token } = (await answer.json()) as { token: string };
  return {
    ...server,
    home,
    token,
    stop: async () => {
      await server.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
