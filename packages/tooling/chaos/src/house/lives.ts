/** The daemon, from start to kill to start. Each life has its own wires to the platforms, and all of them the same address. */
import { type Exit, type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import type { Provider } from "../providers/provider.ts";
import { atExit } from "./at-exit.ts";
import { freePort } from "./free-port.ts";
import { killedAtStart } from "./killed-at-start.ts";
import { startWire, type Wire } from "./wire.ts";

export interface LivesOptions {
  readonly home: string;
  readonly providers: readonly Provider[];
  /** Called before each life. */
  readonly configure: (originOf: (provider: Provider) => string) => void;
  readonly binary: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

export class Lives {
  readonly #options: LivesOptions;
  readonly #port: number;
  /** `<channel>:<port>` of a wire → whose it was. */
  readonly #livesByPort = new Map<string, number>();
  #wires = new Map<string, Wire>();
  #daemon: RunningBinary | undefined;
  #listening = Promise.withResolvers<void>();
  #said = "";
  #count = 0;
  /** By life. */
  readonly #endedAtMs = new Map<number, number>();
  /** Channels whose platform can't be reached. */
  readonly #cut = new Set<string>();
  #longestStartMs = 0;
  #longestEndMs = 0;
  readonly #problems: string[] = [];
  readonly #forget = atExit(() => void this.#daemon?.stop("SIGKILL"));

  private constructor(options: LivesOptions, port: number) {
    this.#options = options;
    this.#port = port;
  }

  static async of(options: LivesOptions): Promise<Lives> {
    return new Lives(options, await freePort());
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  /** In milliseconds. */
  get longestStartMs(): number {
    return this.#longestStartMs;
  }

  /** Of those that ended in order, in milliseconds. */
  get longestEndMs(): number {
    return this.#longestEndMs;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get daemon(): RunningBinary {
    if (!this.#daemon) throw new Error("the daemon is down");
    return this.#daemon;
  }

  /** Resolves when one listens. */
  up(): Promise<void> {
    return this.#listening.promise;
  }

  /** What all of them said. */
  output(): string {
    return this.#said + (this.#daemon?.output() ?? "");
  }

  /** How lives ended that should have ended otherwise. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** When a life ended, by `performance.now()`. */
  endedAtMs(life: number): number | undefined {
    return this.#endedAtMs.get(life);
  }

  /** From here on, and in later lives, the channel's platform refuses connections. */
  async cut(channel: string): Promise<void> {
    this.#cut.add(channel);
    await this.#wires.get(channel)?.cut();
  }

  async mend(channel: string): Promise<void> {
    this.#cut.delete(channel);
    await this.#wires.get(channel)?.mend();
  }

  /** Whose life a wire's port belongs to; 0: nobody's. */
  lifeOf(channel: string, port: number): number {
    return this.#livesByPort.get(`${channel}:${port}`) ?? 0;
  }

  async begin(): Promise<void> {
    await this.#next();
    const startedAt = performance.now();
    this.#daemon = await startBinary(this.#binary);
    this.#longestStartMs = Math.max(this.#longestStartMs, performance.now() - startedAt);
    this.#listening.resolve();
  }

  /** One that is killed so long after its start. */
  async beginAndKill(afterMs: number): Promise<void> {
    await this.#next();
    this.#said += await killedAtStart(this.#binary, afterMs);
    this.#endedAtMs.set(this.#count, performance.now());
  }

  async kill(): Promise<void> {
    const { code, signal } = await this.#over("SIGKILL");
    if (signal !== "SIGKILL") this.#problems.push(`life ${this.#count} ended by itself, with ${code ?? signal}`);
  }

  /** In order. */
  async end(): Promise<void> {
    const startedAt = performance.now();
    const { code, signal } = await this.#over("SIGTERM");
    this.#longestEndMs = Math.max(this.#longestEndMs, performance.now() - startedAt);
    if (code !== 0) this.#problems.push(`life ${this.#count} did not end in order, but with ${code ?? signal}`);
  }

  async close(): Promise<void> {
    await this.#daemon?.close();
    this.#forget();
    for (const wire of this.#wires.values()) await wire.cut();
  }

  async #over(signal: NodeJS.Signals): Promise<Exit> {
    const { daemon } = this;
    this.#listening = Promise.withResolvers();
    const exit = await daemon.stop(signal);
    this.#endedAtMs.set(this.#count, performance.now());
    this.#said += daemon.output();
    this.#daemon = undefined;
    return exit;
  }

  /** What the last life sent has long been read when its wires are closed: a start takes longer than that. */
  async #next(): Promise<void> {
    const { providers, configure } = this.#options;
    const old = this.#wires;
    this.#count += 1;
    this.#wires = new Map();
    for (const { channel, platform } of providers) {
      const wire = await startWire(platform.url);
      this.#wires.set(channel, wire);
      this.#livesByPort.set(`${channel}:${new URL(wire.origin).port}`, this.#count);
      if (this.#cut.has(channel)) await wire.cut();
    }
    for (const wire of old.values()) await wire.cut();
    configure(({ channel }) => this.#wires.get(channel)!.origin);
  }

  get #binary() {
    const { home, binary, env } = this.#options;
    return {
      home,
      env: { ...env, SVC__GATEWAY__PORT: String(this.#port) },
      ...(binary !== undefined && { binary }),
    };
  }
}
