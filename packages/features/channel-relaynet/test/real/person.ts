/** A person with another implementation of the protocols, in Rust: the Python package `nostr-sdk`. It brings a relay of its own too. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { MissingPart } from "@svc/testkit/require-real";

/** A Python that has it; default: the machine's. */
const PYTHON = process.env["SVC_NOSTR_SDK_PYTHON"] ?? "python3";

export function missingRustClient(): MissingPart | undefined {
  const { status } = spawnSync(PYTHON, ["-c", "import nostr_sdk"], { stdio: "ignore" });
  if (status === 0) return undefined;
  const make = "python3 -m venv /opt/nostr-sdk && /opt/nostr-sdk/bin/pip install nostr-sdk==0.45.1";
  const reason = `${PYTHON} has no nostr_sdk; ${make}, then SVC_NOSTR_SDK_PYTHON=/opt/nostr-sdk/bin/python`;
  return { name: "nostr-sdk", reason, tier: "B" };
}

export interface RustPerson extends AsyncDisposable {
  readonly relay: string;
  /** Hex. */
  readonly pubkey: string;
  write(message: {
    readonly to: string;
    readonly text: string;
    readonly protocol: "legacy" | "wrapped";
  }): Promise<void>;
  read(): Promise<readonly RustMessage[]>;
}

export interface RustMessage {
  readonly id: string;
  readonly from: string;
  readonly text: string;
  readonly protocol: "legacy" | "wrapped";
}

/** On this relay; without one, on a relay of the same implementation, which tells and takes nothing before it knows who is there. */
export async function startRustPerson(relay = "--serve"): Promise<RustPerson> {
  const child = spawn(PYTHON, [join(import.meta.dirname, "person.py"), relay], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<Record<string, unknown>> => {
    const { done, value } = await lines.next();
    if (done) throw new Error("the Rust client has ended");
    return JSON.parse(value) as Record<string, unknown>;
  };
  const ask = (command: object): Promise<Record<string, unknown>> => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    return next();
  };
  const { relay: url, pubkey } = (await next()) as { relay: string; pubkey: string };
  return {
    relay: url,
    pubkey,
    async write(message) {
      await ask({ do: "write", ...message });
    },
    read: async () => (await ask({ do: "read" }))["read"] as readonly RustMessage[],
    async [Symbol.asyncDispose]() {
      child.kill();
      await ended;
    },
  };
}
