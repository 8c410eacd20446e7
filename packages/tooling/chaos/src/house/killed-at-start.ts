/** A life that is killed before anybody knows whether it listens: in the middle of opening what the last one left. */
import { binaryPath, spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { atExit } from "./at-exit.ts";

export interface ShortLife {
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly binary?: string;
}

/** Resolves with what it said, once it is gone. */
export function killedAtStart({ home, env, binary = binaryPath() }: ShortLife, afterMs: number): Promise<string> {
  const child = spawnBinary(binary, ["daemon"], home, env);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  }
  const kill = (): boolean => child.kill("SIGKILL");
  const timer = setTimeout(kill, afterMs);
  const forget = atExit(kill);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      forget();
      // One that ends by itself has not come up, which no kill of another life may lead to.
      if (code === null) resolve(said);
      else reject(new Error(`the daemon ended with ${code} before it was killed:\n${said}`));
    });
  });
}
