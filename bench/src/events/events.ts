/** What it costs to tell events: nobody, and a thousand readers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ClientId, SvcEvent } from "@svc/contract";
import { createEventHub } from "@svc/runtime";
import { systemClock } from "@svc/kit/system-clock";
import { startGateway } from "../gateway.ts";
import { median } from "../measure.ts";
import { anonymousMb } from "../server.ts";

export interface Events {
  readonly readers: number;
  /** From the request that causes one until the last reader has it. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of the daemon, for each reader that waits. */
  readonly kbPerReader: number;
  /** To publish one that nobody reads. */
  readonly publishUs: number;
}

const READERS = 1_000;
const ROUNDS = 100;
const SETTLE_MS = 3_000;
const PUBLISHED = 200_000;

export async function measureEvents(): Promise<Events> {
  const gateway = await startGateway(0);
  // The code of streams is part of the daemon, whoever reads: it is there before the memory is looked at.
  await withReaders(gateway, 50, 5, settled);
  let beforeMb = 0;
  let afterMb = 0;
  await settled();
  beforeMb = anonymousMb(gateway.pid);
  const ms = await withReaders(gateway, READERS, ROUNDS, async () => {
    await settled();
    afterMb = anonymousMb(gateway.pid);
  });
  await gateway.stop();
  return {
    readers: READERS,
    p50Ms: median(ms),
    p99Ms: ms.toSorted((a, b) => a - b)[Math.floor(ms.length * 0.99)]!,
    kbPerReader: ((afterMb - beforeMb) * 1024) / READERS,
    publishUs: publishUs(),
  };
}

export const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLE_MS));

/** Opens them, lets `look` look, and resolves with what each of the events took. */
export async function withReaders(
  { port, token }: { readonly port: number; readonly token: string },
  readers: number,
  rounds: number,
  look: () => Promise<void>,
): Promise<number[]> {
  const program = fileURLToPath(new URL("readers.ts", import.meta.url));
  const options = JSON.stringify({ port, token, readers, rounds });
  const child = spawn(process.execPath, [program, options], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout });
  const opened = once(lines, "line");
  // Closes without a line where one was refused, which the child has said.
  await Promise.race([opened, once(lines, "close").then(() => Promise.reject(new Error("the readers ended early")))]);
  await look();
  child.stdin.write("go\n");
  const [measured] = (await once(lines, "line")) as [string];
  if (child.exitCode === null) await once(child, "exit");
  return JSON.parse(measured) as number[];
}

function publishUs(): number {
  const hub = createEventHub({ clock: systemClock, boot: "bench" });
  const turn = { turnId: "t-1", sessionId: "s-1", conversationId: "c-1", owner: "bench" as ClientId };
  const publish = (): void => {
    const event: SvcEvent = { type: "text-delta", ...turn, text: "a piece of an answer", offset: 0 };
    hub.publish(event);
  };
  for (let count = 0; count < PUBLISHED; count += 1) publish();
  const beganAt = performance.now();
  for (let count = 0; count < PUBLISHED; count += 1) publish();
  return ((performance.now() - beganAt) * 1000) / PUBLISHED;
}
