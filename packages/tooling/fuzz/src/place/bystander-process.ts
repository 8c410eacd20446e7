/** Starts the well-behaved clients, tells them which phase it is, and collects what they measured. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BystanderOptions, Pace } from "../bystander.ts";
import type { Victim } from "./daemon.ts";

export interface Bystander extends Disposable {
  /** Later requests count under this name. */
  phase(name: string): void;
  /** Resolves when one of its requests was answered in that phase. */
  served(name: string): Promise<void>;
  end(): Promise<Readonly<Record<string, Pace>>>;
}

export function startBystander(victim: Victim): Bystander {
  const options: BystanderOptions = { ...victim.place, request: requestTo(victim), addresses: ADDRESSES };
  const file = fileURLToPath(new URL("../bystander.ts", import.meta.url));
  const child = spawn(process.execPath, [file, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const served = new Map<string, PromiseWithResolvers<void>>();
  const servedIn = (name: string): PromiseWithResolvers<void> => {
    const there = served.get(name) ?? Promise.withResolvers<void>();
    served.set(name, there);
    return there;
  };
  child.on("message", (name) => servedIn(String(name)).resolve());
  return {
    phase: (name) => void child.send(name),
    served: (name) => servedIn(name).promise,
    async end() {
      child.send("end");
      await closed;
      return JSON.parse(text) as Record<string, Pace>;
    },
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

/**
 * Of one address each they stay below its limit while the attacker's is what is attacked. Elsewhere 127.0.0.1 is all there
 * is of loopback.
 */
const ADDRESSES = process.platform === "linux" ? Array.from({ length: 250 }, (_, n) => `127.0.1.${n + 1}`) : [];

/** A turn; where the limit on them would count the attacker's too, only whether the service is well. */
function requestTo({ trusting, bystander, credentials }: Victim): string {
  const isTurn = trusting || ADDRESSES.length > 0;
  const body = isTurn ? JSON.stringify({ message: "good morning" }) : "";
  const lines = [
    isTurn ? "POST /webhook HTTP/1.1" : "GET /health HTTP/1.1",
    "host: localhost",
    "content-type: application/json",
    `authorization: Bearer ${bystander}`,
    `x-webhook-secret: ${credentials.webhookSecret}`,
    `content-length: ${body.length}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n${body}`;
}
