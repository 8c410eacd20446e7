/** The gateway binary in a home of its own, paired, with the limit that a scenario wants. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { type Server, startServer } from "./server.ts";

export const BINARY = resolve(import.meta.dirname, "../../dist/minimal/svc");

export interface BenchDaemon extends Server {
  readonly home: string;
  /** Ends the process and leaves its home. */
  pause(): Promise<void>;
  /** Its home goes. */
  remove(): void;
}

export interface BenchGateway extends BenchDaemon {
  readonly token: string;
}

export async function startGateway(ratePerMinute: number, binary: string = BINARY): Promise<BenchGateway> {
  return paired(await startDaemon(`[gateway]\nwebhook_rate_limit_per_minute = ${ratePerMinute}\n`, binary));
}

/** With the code that the first start has printed. */
export async function paired(daemon: BenchDaemon): Promise<BenchGateway> {
  const code = /pairing code: (\d{6})/.exec(daemon.output)![1]!;
  const answer = await fetch(`http://127.0.0.1:${daemon.port}/pair`, {
    method: "POST",
    headers: { "x-pairing-code": code },
  });
  const { token } = (await answer.json()) as { token: string };
  return { ...daemon, token };
}

/** Its home goes when it is stopped. `prepare` puts into it what has to be there before. */
export async function startDaemon(
  config: string,
  binary: string = BINARY,
  prepare: (home: string) => void = () => {},
): Promise<BenchDaemon> {
  const home = mkdtempSync(join(tmpdir(), "svc-bench-"));
  prepare(home);
  writeFileSync(join(home, "config.toml"), config, { mode: 0o600 });
  const server = await startServer([binary, "daemon"], { SVC_HOME: home, SVC__GATEWAY__PORT: "0" });
  const remove = (): void => rmSync(home, { recursive: true, force: true });
  return {
    ...server,
    home,
    pause: () => server.stop(),
    remove,
    stop: async () => {
      await server.stop();
      remove();
    },
  };
}
