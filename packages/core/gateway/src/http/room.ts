/**
 * Keeps file descriptors free for the database, for commands and for the control socket. Out of them, the kernel closes new
 * connections without a word, commands fail, and `svc status` can't even ask what is wrong. So there is a most of
 * connections, and past it the one that has been idle the longest goes: a client that hoards connections loses its own.
 */
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Clock, Logger } from "@svc/contract";
import { isIdle } from "./in-flight.ts";

/** Descriptors that are not for connections: database, logs, three pipes for each command, calls to the model. */
const RESERVED = 256;
/** How many are looked at for one that is idle, oldest first; each new connection may cost that much. */
const LOOKED_AT = 64;
const LOG_EVERY_MS = 60_000;

export function keepRoom(server: Server, clock: Clock, log: Logger, most = mostConnections()): void {
  /** Oldest first. */
  const open = new Set<Socket>();
  let saidAtMs = -Infinity;
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    if (open.size <= most) return;
    const gone = oldestIdle(open) ?? socket;
    open.delete(gone);
    gone.destroy();
    const nowMs = clock.monotonic();
    if (nowMs - saidAtMs < LOG_EVERY_MS) return;
    saidAtMs = nowMs;
    log.warn("idle connections are closed early: there are as many as the limit on open files allows", { open: most });
  });
}

function oldestIdle(open: ReadonlySet<Socket>): Socket | undefined {
  let looked = 0;
  for (const socket of open) {
    if (isIdle(socket)) return socket;
    looked += 1;
    if (looked === LOOKED_AT) return undefined;
  }
  return undefined;
}

const mostConnections = (): number => {
  const descriptors = descriptorLimit();
  return descriptors - Math.min(RESERVED, descriptors >> 1);
};

/** Infinity where there is none, as on Windows. */
function descriptorLimit(): number {
  try {
    const [, soft = ""] = /^Max open files\s+(\w+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return limitOf(soft);
  } catch {
    // The other systems tell it in a report that takes milliseconds to make.
    const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: unknown } } };
    return limitOf(userLimits?.open_files?.soft);
  }
}

const limitOf = (value: unknown): number => (Number(value) > 0 ? Number(value) : Infinity);
