/**
 * A bounded closed-loop load generator for loopback HTTP/1.1, on raw sockets so that it takes little CPU beside the server
 * under test: N keep-alive connections, one request in flight on each. Run as a process of its own; prints one JSON line.
 *
 *   node load.ts '{"port":1,"path":"/webhook","connections":50,"seconds":3,"warmSeconds":1,"headers":["x: {{c}}"],"body":"{}"}'
 *
 * `{{c}}` in a header becomes the connection's number.
 */
import { connect, type Socket } from "node:net";
import { readFileSync } from "node:fs";
import type { DeliveryBatch } from "./ingest/requests.ts";

export type LoadOptions = Load & (SameRequest | Deliveries);

interface Load {
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  readonly warmSeconds: number;
  /** Warm with so many requests at most. */
  readonly warmRequests?: number;
  /** Server process whose CPU time is read before and after. */
  readonly pid?: number;
  /** Stop after so many requests, whatever the time. */
  readonly maxRequests?: number;
}

/** The same one on a connection, again and again. */
export interface SameRequest {
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Each one once, as far as they last. */
interface Deliveries {
  readonly deliveries: DeliveryBatch;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** CPU microseconds of the server per request. */
  readonly cpuUs: number;
  readonly statuses: Readonly<Record<string, number>>;
}

/** What a connection sends next; undefined: nothing more. */
type Next = () => Buffer | undefined;

const TICK_US = 10_000;

class Phase {
  readonly latencies: number[] = [];
  readonly statuses: Record<string, number> = {};
  readonly #endsAt: number;
  readonly #maxRequests: number;
  #sent = 0;

  constructor(seconds: number, maxRequests: number) {
    this.#endsAt = performance.now() + seconds * 1000;
    this.#maxRequests = maxRequests;
  }

  /** What is sent now; undefined when the phase is over. */
  take(next: Next): Buffer | undefined {
    if (this.#sent >= this.#maxRequests || performance.now() >= this.#endsAt) return undefined;
    this.#sent += 1;
    return next();
  }
}

/** One connection: send, read one whole response, repeat. Opens again when the server closes it. */
function work(port: number, phase: Phase, next: Next): Promise<void> {
  return new Promise((resolve) => {
    const open = (): void => {
      const request = phase.take(next);
      if (!request) return resolve();
      const socket = connect({ host: "127.0.0.1", port, noDelay: true });
      exchange(socket, request, phase, next, open, resolve);
    };
    open();
  });
}

function exchange(socket: Socket, first: Buffer, phase: Phase, next: Next, again: () => void, done: () => void): void {
  let received = "";
  let startedAt = 0;
  const send = (request: Buffer): void => {
    received = "";
    startedAt = performance.now();
    socket.write(request);
  };
  socket.on("connect", () => send(first));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    phase.statuses[error.code ?? "error"] = (phase.statuses[error.code ?? "error"] ?? 0) + 1;
  });
  socket.on("close", again);
  socket.on("data", (chunk) => {
    received += chunk.toString("latin1");
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
    if (received.length < end + 4 + length) return;
    const status = received.slice(9, 12);
    phase.statuses[status] = (phase.statuses[status] ?? 0) + 1;
    phase.latencies.push(performance.now() - startedAt);
    const request = phase.take(next);
    if (request) return send(request);
    socket.off("close", again);
    socket.destroy();
    done();
  });
}

/** What each connection sends, by its number. */
async function requestsOf(options: LoadOptions): Promise<(connection: number) => Next> {
  if (!("deliveries" in options)) {
    return (connection) => {
      const request = requestBytes(options, options.port, connection);
      return () => request;
    };
  }
  // Not imported before it is needed: the makers of deliveries take their time.
  const { deliveryRequests } = await import("./ingest/requests.ts");
  const requests = deliveryRequests(options.deliveries, options.port).values();
  return () => () => requests.next().value;
}

function requestBytes({ path, headers, body }: SameRequest, port: number, connection: number): Buffer {
  const lines = headers.map((header) => `${header.replaceAll("{{c}}", String(connection))}\r\n`).join("");
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\n${lines}\r\n${body}`,
  );
}

/** Microseconds of CPU time that a process has had. */
export function cpuUs(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).toSorted();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

async function run(options: LoadOptions): Promise<LoadResult> {
  const { port, connections, seconds, warmSeconds, warmRequests = Infinity, maxRequests = Infinity, pid } = options;
  const requests = await requestsOf(options);
  const nexts = Array.from({ length: connections }, (_, connection) => requests(connection));
  const during = (phase: Phase): Promise<unknown> => Promise.all(nexts.map((next) => work(port, phase, next)));
  if (warmSeconds > 0) await during(new Phase(warmSeconds, warmRequests));
  const phase = new Phase(seconds, maxRequests);
  const cpuBefore = cpuUs(pid);
  const startedAt = performance.now();
  await during(phase);
  const took = (performance.now() - startedAt) / 1000;
  const { latencies, statuses } = phase;
  return {
    requests: latencies.length,
    perSecond: latencies.length / took,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    cpuUs: (cpuUs(pid) - cpuBefore) / Math.max(1, latencies.length),
    statuses,
  };
}

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2]!) as LoadOptions))}\n`);
}
