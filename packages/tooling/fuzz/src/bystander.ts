/**
 * A client that does nothing wrong, in a process of its own: one request after the other on one connection, and how long
 * each took. Told "quiet", "storm" … by its parent it counts under that name; told "end" it prints what it counted.
 *
 *   node bystander.ts '{"host":"127.0.0.1","port":1,"request":"GET /health HTTP/1.1\\r\\nhost: localhost\\r\\n\\r\\n"}'
 */
import { connect, type Socket } from "node:net";

export interface BystanderOptions {
  readonly host: string;
  readonly port: number;
  readonly request: string;
}

export interface Pace {
  readonly served: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200, by status; 0: a connection that ended without one. */
  readonly others: Readonly<Record<string, number>>;
}

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
  #socket: Socket | undefined;

  constructor(options: BystanderOptions) {
    this.#options = options;
  }

  /** Resolves with the status, or 0 when the connection ended. */
  ask(): Promise<number> {
    const { host, port, request } = this.#options;
    const socket = (this.#socket ??= connect({ host, port, noDelay: true }).on("error", () => {}));
    return new Promise((resolve) => {
      let text = "";
      const settle = (status: number): void => {
        socket.removeAllListeners("data").removeAllListeners("close");
        if (status === 0) this.#socket = undefined;
        resolve(status);
      };
      socket.on("close", () => settle(0));
      socket.on("data", (chunk: Buffer) => {
        text += chunk.toString("latin1");
        const end = text.indexOf("\r\n\r\n");
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
        if (end >= 0 && text.length >= end + 4 + length) settle(Number(text.slice(9, 12)));
      });
      socket.write(request);
    });
  }

  end(): void {
    this.#socket?.destroy();
  }
}

async function run(options: BystanderOptions): Promise<Record<string, Pace>> {
  const phases = new Map<string, Phase>();
  const now = { phase: "warm-up" };
  process.on("message", (told) => (now.phase = String(told)));
  const client = new Client(options);
  while (now.phase !== "end") {
    const phase = phases.get(now.phase) ?? new Phase();
    phases.set(now.phase, phase);
    const startedAt = performance.now();
    phase.note(await client.ask(), performance.now() - startedAt);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  client.end();
  return Object.fromEntries([...phases].map(([name, phase]) => [name, phase.pace()]));
}

if (import.meta.main) {
  const paces = await run(JSON.parse(process.argv[2]!) as BystanderOptions);
  process.stdout.write(`${JSON.stringify(paces)}\n`, () => process.disconnect?.());
}
