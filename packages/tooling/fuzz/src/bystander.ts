/**
 * Clients that do nothing wrong, in a process of their own: one request after the other, by turns, each on a connection of
 * its own, and how long each took. Told "quiet", "storm" … by its parent it counts under that name, and told "flood/slow" under
 * "flood" too; told "end" it prints what it counted. It tells its parent the name under which a request was served first.
 *
 *   node bystander.ts '{"host":"127.0.0.1","port":1,"request":"GET /health HTTP/1.1\\r\\n…","addresses":[]}'
 */
import { connect, type Socket } from "node:net";

export interface BystanderOptions {
  readonly host: string;
  readonly port: number;
  readonly request: string;
  /** Where they come from, one client for each; nothing: one client, wherever it comes from. */
  readonly addresses: readonly string[];
}

export interface Pace {
  readonly served: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200, by status; 0: a connection that ended without one. */
  readonly others: Readonly<Record<string, number>>;
}

/** A connection that was idle for longer is not used again: the service closes it after 65 s, perhaps just now. */
const REUSE_MS = 30_000;
/** Between two requests: a client that waits for nothing would measure its own queue. */
const PAUSE_MS = 5;

class Phase {
  readonly latenciesMs: number[] = [];
  readonly others: Record<string, number> = {};

  note(status: number, tookMs: number): void {
    if (status === 200) this.latenciesMs.push(tookMs);
    else this.others[status] = (this.others[status] ?? 0) + 1;
  }

  pace(): Pace {
    const sorted = Float64Array.from(this.latenciesMs).toSorted();
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
    return { served: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), others: this.others };
  }
}

class Client {
  readonly #options: BystanderOptions;
  readonly #address: string | undefined;
  #socket: Socket | undefined;
  #usedAtMs = 0;

  constructor(options: BystanderOptions, address: string | undefined) {
    this.#options = options;
    this.#address = address;
  }

  /** Resolves with the status, or 0 when the connection ended. */
  ask(): Promise<number> {
    if (performance.now() - this.#usedAtMs > REUSE_MS) this.end();
    const socket = (this.#socket ??= this.#connect());
    return new Promise((resolve) => {
      let text = "";
      const onEnd = (): void => settle(0);
      const settle = (status: number): void => {
        socket.removeAllListeners("data").off("close", onEnd);
        this.#usedAtMs = performance.now();
        resolve(status);
      };
      socket.on("close", onEnd);
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        const end = text.indexOf("\r\n\r\n");
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (end >= 0 && text.length >= end + 4 + length) settle(Number(text.slice(9, 12)));
      });
      socket.write(this.#options.request);
    });
  }

  end(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  /** An idle connection that the daemon closes is no failure: the next request opens another. */
  #connect(): Socket {
    const { host, port } = this.#options;
    const from = this.#address === undefined ? {} : { localAddress: this.#address };
    const socket = connect({ host, port, noDelay: true, ...from });
    return socket
      .on("error", () => {})
      .once("close", () => {
        if (this.#socket === socket) this.#socket = undefined;
      });
  }
}

async function run(options: BystanderOptions): Promise<Record<string, Pace>> {
  const phases = new Map<string, Phase>();
  const now = { phase: "warm-up" };
  process.on("message", (phase) => (now.phase = String(phase)));
  const { addresses } = options;
  const clients = (addresses.length > 0 ? addresses : [undefined]).map((address) => new Client(options, address));
  for (let turn = 0; now.phase !== "end"; turn += 1) {
    const client = clients[turn % clients.length]!;
    const names = new Set([now.phase, now.phase.split("/", 1)[0]!]);
    const startedAt = performance.now();
    const status = await client.ask();
    const tookMs = performance.now() - startedAt;
    for (const name of names) {
      const phase = phases.get(name) ?? new Phase();
      phases.set(name, phase);
      phase.note(status, tookMs);
      if (status === 200 && phase.latenciesMs.length === 1) process.send?.(name);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  for (const client of clients) client.end();
  return Object.fromEntries([...phases].map(([name, phase]) => [name, phase.pace()]));
}

if (import.meta.main) {
  // Its parent was killed.
  process.once("disconnect", () => process.exit());
  const paces = await run(JSON.parse(process.argv[2]!) as BystanderOptions);
  process.stdout.write(`${JSON.stringify(paces)}\n`, () => process.disconnect?.());
}
