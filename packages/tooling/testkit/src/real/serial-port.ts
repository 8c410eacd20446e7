/** A serial port that leads to a TCP server on loopback: a pseudo-terminal of socat at a path of the test's choice. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import type { MissingPart } from "../require-real.ts";

export interface SerialPort extends AsyncDisposable {
  /** As if the plug was pulled: the path is gone. Idempotent. */
  unplug(): Promise<void>;
}

/** Undefined: all is there. */
export function missingSocat(): MissingPart | undefined {
  if (spawnSync("socat", ["-V"]).error === undefined) return undefined;
  return { name: "a serial port", reason: "socat is not on PATH; apt-get install socat" };
}

/** Resolves once the path is there. */
export async function startSerialPort(path: string, { port }: { readonly port: number }): Promise<SerialPort> {
  const child = spawn("socat", [`pty,raw,echo=0,link=${path}`, `tcp:127.0.0.1:${port}`], { stdio: "ignore" });
  const end = (): void => void child.kill("SIGTERM");
  process.once("exit", end);
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  while (!existsSync(path)) {
    if (child.exitCode !== null) throw new Error(`socat ended (${child.exitCode}) before it made ${path}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const unplug = async (): Promise<void> => {
    process.off("exit", end);
    end();
    await ended;
  };
  return { unplug, [Symbol.asyncDispose]: unplug };
}
