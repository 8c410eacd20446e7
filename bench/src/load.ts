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

export interface LoadOptions {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
  readonly warmSeconds: number;
  readonly headers: readonly string[];
  readonly body: string;
  /** Server process whose CPU time is read before and after. */
  readonly pid?: number;
  /** Stop after so many requests, whatever the time. */
  readonly maxRequests?: number;
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

const TICK_US = 10_000;

class Phase {
  readonly latencies: number[] = [];
  readonly statuses: Record<string, number> = {};
  readonly #endsAt: number;
  readonly #maxRequests: number;
  sent = 0;

  constructor(seconds: number, maxRequests: number) {
    this.#endsAt = performance.now() + seconds * 1000;
    this.#maxRequests = maxRequests;
  }

  more(): boolean {
    return this.sent < this.#maxRequests && performance.now() < this.#endsAt;
  }
}

/** One connection: send, read one whole response, repeat. Opens again when the server closes it. */
function work(options: LoadOptions, phase: Phase, number: number): Promise<void> {
  const request = requestBytes(options, number);
  return new Promise((resolve) => {
    const open = (): void => {
      if (!phase.more()) return resolve();
      const socket = connect({ host: "127.0.0.1", port: options.port, noDelay: true });
      converse(socket, request, phase, open, resolve);
    };
    open();
  });
}

function converse(socket: Socket, request: Buffer, phase: Phase, again: () => void, done: () => void): void {
  let received = "";
  let startedAt = 0;
  const send = (): void => {
    received = "";
    startedAt = performance.now();
    phase.sent += 1;
    socket.write(request);
  };
  socket.on("connect", send);
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
    if (phase.more()) return send();
    socket.off("close", again);
    socket.destroy();
    done();
  });
}

function requestBytes(options: LoadOptions, number: number): Buffer {
  const headers = options.headers.map((header) => `${header.replaceAll("{{c}}", String(number))}\r\n`).join("");
  const length = Buffer.byteLength(options.body);
  return Buffer.from(
    `POST ${options.path} HTTP/1.1\r\nhost: 127.0.0.1:${options.port}\r\ncontent-type: application/json\r\n` +
      `content-length: ${length}\r\n${headers}\r\n${options.body}`,
  );
}

function cpuUs(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

async function run(options: LoadOptions): Promise<LoadResult> {
  const numbers = Array.from({ length: options.connections }, (_, index) => index);
  const during = (phase: Phase): Promise<unknown> => Promise.all(numbers.map((number) => work(options, phase, number)));
  if (options.warmSeconds > 0) await during(new Phase(options.warmSeconds, Number.POSITIVE_INFINITY));
  const phase = new Phase(options.seconds, options.maxRequests ?? Number.POSITIVE_INFINITY);
  const cpuBefore = cpuUs(options.pid);
  const startedAt = performance.now();
  await during(phase);
  const seconds = (performance.now() - startedAt) / 1000;
  const sorted = Float64Array.from(phase.latencies).toSorted();
  const quantile = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return {
    requests: sorted.length,
    perSecond: sorted.length / seconds,
    p50Ms: quantile(0.5),
    p99Ms: quantile(0.99),
    cpuUs: (cpuUs(options.pid) - cpuBefore) / Math.max(1, sorted.length),
    statuses: phase.statuses,
  };
}

if (import.meta.main) {
  process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2]!) as LoadOptions))}\n`);
}
