/** The binary at a real terminal (`script` of bsdutils): what it shows is read, and answered as a person would. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { requireReal } from "@svc/testkit/require-real";
import type { TestContext } from "vitest";

const SCRIPT = "/usr/bin/script";
/** Less than a test has, which could not say what was on the screen. */
const PATIENCE_MS = 60_000;

export function needScript(context: TestContext): void {
  if (!existsSync(SCRIPT)) {
    requireReal(context, { name: "script", reason: "no /usr/bin/script; apt-get install bsdutils" });
  }
}

export interface Seen {
  /** Everything that was on the screen. */
  readonly screen: string;
  /** Of the command; `script -e` passes it on. */
  readonly code: number | null;
}

/** What is done when a prompt has been seen: typed, or something elsewhere. */
type Deed = string | (() => unknown);

/** Does each deed when its prompt has been seen. */
export function atTerminal(
  home: string,
  words: string,
  exchange: readonly (readonly [prompt: string, deed: Deed])[],
  env: Readonly<Record<string, string>> = {},
): Promise<Seen> {
  const child = spawn(SCRIPT, ["-qefc", `${binaryPath()} ${words}`, "/dev/null"], {
    env: { PATH: process.env["PATH"], SVC_HOME: home, TERM: "xterm", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let screen = "";
  let seen = 0;
  const waiting = [...exchange];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    screen += text;
    for (let next = waiting[0]; next && screen.indexOf(next[0], seen) >= 0; next = waiting[0]) {
      seen = screen.indexOf(next[0], seen) + next[0].length;
      const [, deed] = next;
      waiting.shift();
      if (typeof deed === "string") child.stdin.write(deed);
      else void deed();
    }
  });
  const { promise, resolve, reject } = Promise.withResolvers<Seen>();
  const giveUp = setTimeout(() => {
    child.kill("SIGKILL");
    reject(
      new Error(`The command has not ended; next was ${JSON.stringify(waiting[0]?.[0])}, on the screen:\n${screen}`),
    );
  }, PATIENCE_MS);
  child.once("close", (code) => {
    clearTimeout(giveUp);
    resolve({ screen, code });
  });
  return promise;
}
