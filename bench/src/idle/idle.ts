/** What subscribers of `GET /api/events` cost while nothing happens, what one event to all of them takes, and one that reads nothing. */
import { connect, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { settled, withReaders } from "../events/events.ts";
import { startGateway } from "../gateway.ts";
import { median } from "../measure.ts";
import { anonymousMb, processorMs } from "../server.ts";

export interface Idle {
  readonly readers: number;
  readonly kbPerReader: number;
  /** Of the processor, in a second without events. */
  readonly idleMsPerSecond: number;
  readonly withoutReadersMsPerSecond: number;
  /** From the request that causes an event until the last reader has it, median. */
  readonly deliveredMs: number;
  /** Sent while one subscriber reads nothing. */
  readonly unreadMb: number;
  /** What the daemon's memory grew by meanwhile. */
  readonly heldMb: number;
  /** The daemon ended its connection. */
  readonly isCutOff: boolean;
}

const WATCHED_MS = 10_000;
const EVENTS = 5;
const UNREAD_EVENTS = 4_000;
const UNREAD_BYTES = 8_000;
const AT_ONCE = 20;

export async function measureIdle(readers: number): Promise<Idle> {
  const gateway = await startGateway(0);
  // The code of streams is part of the daemon: it is loaded before the memory is looked at.
  await withReaders(gateway, 50, 2, settled);
  await settled();
  const withoutReadersMsPerSecond = await workPerSecond(gateway.pid);
  const beforeMb = anonymousMb(gateway.pid);
  let kbPerReader = 0;
  let idleMsPerSecond = 0;
  const ms = await withReaders(gateway, readers, EVENTS, async () => {
    await settled();
    kbPerReader = ((anonymousMb(gateway.pid) - beforeMb) * 1024) / readers;
    idleMsPerSecond = await workPerSecond(gateway.pid);
  });
  const unread = await sendUnread(gateway);
  await gateway.stop();
  return { readers, kbPerReader, idleMsPerSecond, withoutReadersMsPerSecond, deliveredMs: median(ms), ...unread };
}

async function workPerSecond(pid: number): Promise<number> {
  const before = processorMs(pid);
  await pause(WATCHED_MS);
  return ((processorMs(pid) - before) * 1000) / WATCHED_MS;
}

async function sendUnread(
  gateway: Readonly<Record<"pid" | "port", number>> & { readonly token: string },
): Promise<Pick<Idle, "unreadMb" | "heldMb" | "isCutOff">> {
  // Publishing makes garbage of its own, which is not the subscriber's.
  await publish(gateway.port);
  await settled();
  const beforeMb = anonymousMb(gateway.pid);
  const subscriber = await subscribeUnread(gateway);
  let isCutOff = false;
  subscriber.once("close", () => (isCutOff = true));
  await publish(gateway.port);
  await settled();
  const heldMb = anonymousMb(gateway.pid) - beforeMb;
  // A socket that is not read does not tell its end.
  subscriber.resume();
  await pause(1_000);
  subscriber.destroy();
  return { unreadMb: (UNREAD_EVENTS * UNREAD_BYTES) / 1e6, heldMb, isCutOff };
}

function subscribeUnread({ port, token }: { readonly port: number; readonly token: string }): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET /api/events HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`);
      socket.once("data", () => {
        socket.pause();
        resolve(socket);
      });
    }).on("error", reject);
  });
}

async function publish(port: number): Promise<void> {
  const body = JSON.stringify({ type: "bench", content: { message: "x".repeat(UNREAD_BYTES) } });
  const post = async (): Promise<void> => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/channel-events`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`refused: ${answer.status}`);
  };
  for (let sent = 0; sent < UNREAD_EVENTS; sent += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, post));
}
