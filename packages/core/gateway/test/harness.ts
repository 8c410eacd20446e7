/** A real gateway on a free loopback port, with a fake agent, a store in memory and a clock that stands still. */
import { hash, randomUUID } from "node:crypto";
import type { ClientId, Clock, Route } from "@svc/contract";
import type { SessionInfo, SessionService, TurnRequest, TurnResult } from "@svc/agent";
import type { Device, IdempotencyClaim, Scope } from "@svc/store";
import { captureLogger, fakeClock } from "@svc/testkit";
import { onTestFinished } from "vitest";
import { type Gateway, type GatewayDeps, startGateway } from "../src/index.ts";

const CONFIG: GatewayDeps["config"] = {
  host: "127.0.0.1",
  port: 0,
  allow_public_bind: false,
  public_url: undefined,
  allowed_hosts: [],
  require_pairing: true,
  require_signatures: false,
  idempotency_ttl_secs: 300,
  idempotency_max_keys: 10_000,
  webhook_rate_limit_per_minute: 60,
  rate_limit_max_keys: 10_000,
  trust_forwarded_headers: false,
  trusted_proxies: ["127.0.0.0/8", "::1/128"],
  max_body_bytes: 4096,
};

export interface HarnessOptions {
  readonly config?: Partial<GatewayDeps["config"]>;
  readonly webhook?: { readonly secret?: string; readonly signing_secret?: string };
  /** In place of the echoing agent. */
  readonly run?: (request: TurnRequest) => Promise<Partial<TurnResult>>;
  readonly routes?: readonly Route[];
  readonly clock?: Clock;
}

export class Harness {
  readonly clock = fakeClock();
  readonly turns: TurnRequest[] = [];
  readonly log = captureLogger();
  readonly devices: Device[] = [];
  readonly claimed = new Set<string>();
  readonly sessions: SessionInfo[] = [];
  failNextAdd: Error | undefined;
  degraded = false;
  gateway!: Gateway;

  get port(): number {
    return this.gateway.port;
  }

  /** A device that is paired already; returns its token. Call before `start`. */
  device(scope: Scope = "operator", name: string = scope): string {
    const token = `svc_${hash("sha256", randomUUID(), "hex")}`;
    const clientId = `client-${name}` as ClientId;
    const tokenHash = hash("sha256", token, "hex");
    this.devices.push({ id: `dev-${name}`, tokenHash, clientId, name, scope, createdAt: 0, lastSeenAt: undefined });
    return token;
  }

  async start(options: HarnessOptions = {}): Promise<this> {
    this.gateway = await startGateway(this.#deps(options));
    onTestFinished(async () => {
      const closed = this.gateway.close(0);
      // The clock stands still, so the waits of `close` have to be passed by hand.
      for (let step = 0; step < 3; step += 1) await this.clock.advance(60_000);
      await closed;
    });
    return this;
  }

  #deps(options: HarnessOptions): GatewayDeps {
    return {
      config: { ...CONFIG, ...options.config },
      webhook: { secret: options.webhook?.secret, signing_secret: options.webhook?.signing_secret, agent: undefined },
      store: {
        devices: {
          all: () => this.devices,
          add: async (device) => {
            await new Promise((resolve) => setImmediate(resolve));
            const failure = this.failNextAdd;
            this.failNextAdd = undefined;
            if (failure) throw failure;
            this.devices.push(device);
          },
          rename: () => Promise.resolve(false),
          remove: () => Promise.resolve(false),
          touch: () => {},
        },
        idempotency: { claim: (claim) => this.#claim(claim) },
      },
      sessions: {
        list: ({ clientId }, limit) =>
          this.sessions.filter((one) => clientId === undefined || one.clientId === clientId).slice(0, limit),
      } as SessionService,
      turns: { run: (request) => this.#run(request, options.run) },
      status: () => ({ version: "1.2.3" }),
      tools: () => ({ tools: [] }),
      features: () => ({ features: [] }),
      routes: options.routes ?? [],
      configReport: () => ({ config: {} }),
      health: () => ({ degraded: this.degraded, units: [], unsigned: [] }),
      log: this.log,
      clock: options.clock ?? this.clock,
      version: "1.2.3",
      instance: "boot-1",
    };
  }

  #claim(claim: IdempotencyClaim): "new" | "duplicate" {
    const ids = [claim.key, ...(claim.also === undefined ? [] : [claim.also])].map((key) => `${claim.scope} ${key}`);
    if (ids.some((id) => this.claimed.has(id))) return "duplicate";
    for (const id of ids) this.claimed.add(id);
    return "new";
  }

  async #run(request: TurnRequest, run: HarnessOptions["run"]): Promise<TurnResult> {
    this.turns.push(request);
    const result = (await run?.(request)) ?? {};
    const sessionId = request.session ?? "s-new";
    const base = { turnId: "t-1", agent: "default", response: `echo: ${request.text}`, model: "fake", sessionId };
    return { ...base, inputTokens: 1, outputTokens: 1, costUsd: undefined, ...result };
  }
}
