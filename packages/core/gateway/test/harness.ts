/** A real gateway on a free loopback port, with a fake agent, a store in memory and a clock that stands still. */
import { hash, randomUUID } from "node:crypto";
import { type ClientId, type Clock, type Exposition, type Logger, type Route, SvcError } from "@svc/contract";
import type { SearchRequest, SessionInfo, SessionMessage, SessionService, TurnRequest, TurnResult } from "@svc/agent";
import type { Messaging } from "@svc/messaging";
import { type Tracer, NO_TRACER, type RegisteredIngress, type RegisteredRoute, createEventHub } from "@svc/runtime";
import { hashedSecret } from "@svc/config";
import type { Arrival, Arrived, Delivery, Device, IdempotencyClaim, Scope } from "@svc/store";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import { onTestFinished } from "vitest";
import { FakeOperations } from "./fake-operations.ts";
import { FakeSettings } from "./fake-settings.ts";
import { FakeApprovals, FakePolicyRules } from "./fake-approvals.ts";
import { FakeAttachments, FakeSpeech } from "./fake-attachments.ts";
import { FakeChannelEvents } from "./fake-channel-events.ts";
import { FakeMessageAdmin } from "./fake-message-admin.ts";
import { FakePageSessions } from "./fake-page-sessions.ts";
import { FakePushSecrets, FakePushService } from "./fake-push-service.ts";
import { FakeSopAuthor } from "./fake-sop-author.ts";
import { FakeSops } from "./fake-sops.ts";
import { REPORTS } from "./reports.ts";
import {
  type Gateway,
  type GatewayDeps,
  type GatewaySettings,
  type Health,
  type IngressPath,
  type PageFile,
  type RequestsBefore,
  startGateway,
} from "../src/index.ts";

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
  page_session_days: 90,
};

/** Whose a test's routes are. */
export const FEATURE = "a-feature";

export interface HarnessOptions {
  readonly config?: Partial<GatewayDeps["config"]>;
  /** `secret` as the operator writes it. */
  readonly webhook?: Omit<Partial<GatewayDeps["webhook"]>, "secret"> & { readonly secret?: string | undefined };
  /** In place of the echoing agent. */
  readonly run?: (request: TurnRequest) => Promise<Partial<TurnResult>>;
  /** Of the feature `FEATURE`, unless it says of which. */
  readonly routes?: readonly (Route | RegisteredRoute)[];
  readonly featurePaths?: GatewaySettings["featurePaths"];
  readonly authFeatures?: GatewaySettings["authFeatures"];
  readonly ingress?: readonly RegisteredIngress[];
  readonly ingressPaths?: ReadonlyMap<string, IngressPath>;
  readonly clock?: Clock;
  readonly subscriberLimits?: GatewayDeps["subscriberLimits"];
  readonly exposition?: Exposition | undefined;
  readonly tracer?: Tracer;
}

export class Harness {
  readonly clock = fakeClock();
  /** May be another one until `start`. */
  hub = createEventHub({ clock: this.clock, boot: "boot-1" });
  readonly turns: TurnRequest[] = [];
  readonly log = captureLogger();
  /** May be another one until `start`; what is said to that is not in `log`. */
  logger: Logger = this.log;
  readonly devices: Device[] = [];
  readonly claimed = new Set<string>();
  readonly sessions: SessionInfo[] = [];
  /** What was searched for. */
  readonly searches: SearchRequest[] = [];
  /** Changes of conversations that were asked for, with their ids. */
  readonly updates: [string, object][] = [];
  /** Of every conversation. */
  readonly messages: SessionMessage[] = [];
  /** Keys of claims that are on disk. */
  readonly kept = new Set<string>();
  readonly messageAdmin = new FakeMessageAdmin();
  readonly attachments = new FakeAttachments();
  readonly speech = new FakeSpeech();
  readonly approvals = new FakeApprovals();
  readonly policyRules = new FakePolicyRules();
  readonly settingsAdmin = new FakeSettings();
  readonly operations = new FakeOperations();
  readonly sops = new FakeSops();
  readonly sopAuthor = new FakeSopAuthor();
  readonly channelEvents = new FakeChannelEvents();
  /** Of the page's sign-ins. */
  readonly pageSessions = new FakePageSessions();
  readonly pushService = new FakePushService();
  /** Sealed elsewhere. */
  readonly pushSecrets = new FakePushSecrets();
  /** The page's files. */
  page: ReadonlyMap<string, PageFile> = new Map();
  /** What was kept of deliveries, in order. */
  readonly arrivals: Arrival[] = [];
  /** In place of keeping it. */
  accept: (arrival: Arrival) => Promise<Arrived> = keptAtOnce;
  /** As long as it is set, no transaction can be kept. */
  failWrite: Error | undefined;
  /** Channels by which messages go out. */
  readonly channelsUp = new Set<string>();
  /** Clients that nobody is any more. */
  readonly gone: ClientId[] = [];
  /** Replies by hand. */
  readonly replies: Parameters<Messaging["replyByHand"]>[0][] = [];
  failReply: Error | undefined;
  /** Who was shut out, as the inbox was told. */
  readonly shutOut: ClientId[] = [];
  /** Features that gave up. */
  readonly failed = new Set<string>();
  /** Ids of conversations that were to be stopped. */
  readonly cancelled: string[] = [];
  failNextAdd: Error | undefined;
  /** As long as it is set, nothing can be removed from the disk. */
  failRemove: Error | undefined;
  failRename: Error | undefined;
  /** As long as it is set, no conversation can be changed. */
  failUpdate: Error | undefined;
  /** As long as it is set, a removal waits for it. */
  slowRemove: Promise<void> | undefined;
  health: Health = { degraded: false, units: [], unsigned: [] };
  /** As long as it is set, whatever the gateway asks of its surroundings throws it. */
  broken: Error | undefined;
  gateway!: Gateway;
  #options: HarnessOptions = {};

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
    this.#options = options;
    this.gateway = await startGateway(this.#deps(options));
    onTestFinished(async () => {
      const closed = this.gateway.close(0);
      // The clock stands still, so the waits of `close` have to be passed by hand.
      for (let step = 0; step < 3; step += 1) await this.clock.advance(60_000);
      await closed;
    });
    return this;
  }

  /** Applies settings to the running gateway: those it was started with, but for these. */
  reconfigure(changed: Omit<HarnessOptions, "run" | "clock">): RequestsBefore {
    const { config, webhook } = this.#options;
    this.#options = {
      ...this.#options,
      ...changed,
      config: { ...config, ...changed.config },
      webhook: { ...webhook, ...changed.webhook },
    };
    return this.gateway.reconfigure(settingsOf(this.#options));
  }

  /** As it is configured now. */
  get config(): GatewayDeps["config"] {
    return settingsOf(this.#options).config;
  }

  #deps(options: HarnessOptions): GatewayDeps {
    return {
      ...settingsOf(options),
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
          rename: async (id, name) => {
            if (this.failRename) throw this.failRename;
            const index = this.devices.findIndex((device) => device.id === id);
            if (index >= 0) this.devices[index] = { ...this.devices[index]!, name };
            return index >= 0;
          },
          remove: async (id) => {
            await (this.slowRemove ?? new Promise((resolve) => setImmediate(resolve)));
            if (this.failRemove) throw this.failRemove;
            const index = this.devices.findIndex((device) => device.id === id);
            if (index >= 0) this.devices.splice(index, 1);
            return index >= 0;
          },
          touch: () => this.#check(),
        },
        idempotency: {
          claim: (claim) => this.#claim(claim),
          keep: (claim) => idsOf(claim).forEach((id) => this.kept.add(id)),
          release: (claim) => {
            for (const id of idsOf(claim)) if (!this.kept.has(id)) this.claimed.delete(id);
          },
        },
        write: (change) => this.#write(change),
      },
      events: this.hub,
      ...(options.subscriberLimits && { subscriberLimits: options.subscriberLimits }),
      approvals: this.approvals,
      policyRules: this.policyRules,
      settingsAdmin: this.settingsAdmin,
      operations: this.operations,
      sops: this.sops,
      sopAuthor: this.sopAuthor,
      channelEvents: this.channelEvents,
      pageSessions: this.pageSessions,
      push: { secrets: this.pushSecrets, fetch: this.pushService.fetch, resolve: this.pushService.resolve },
      page: this.page,
      sessions: this.#sessionService(),
      turns: { run: (request) => this.#run(request, options.run) },
      onClientGone: (clientId) => this.gone.push(clientId),
      isChannelUp: (channel) => (this.#check(), this.channelsUp.has(channel)),
      inbox: {
        replyByHand: async (reply) => {
          this.#check();
          if (this.failReply) throw this.failReply;
          this.replies.push(reply);
          return { turnId: "t-2", deliveries: [{ n: 7 } as Delivery] };
        },
        shutOut: async (owner) => void this.shutOut.push(owner),
        accept: async (arrival, inTransaction) => {
          const arrived = await this.accept(arrival);
          const committed = await this.#write(() => inTransaction?.(arrival, arrived));
          this.arrivals.push(arrival);
          committed?.();
          return arrived;
        },
      },
      messageAdmin: this.messageAdmin,
      attachments: this.attachments,
      speech: this.speech,
      isUp: (feature) => (this.#check(), !this.failed.has(feature)),
      ...REPORTS,
      health: () => (this.#check(), this.health),
      tracer: options.tracer ?? NO_TRACER,
      log: this.logger,
      clock: options.clock ?? this.clock,
      version: "1.2.3",
      instance: "boot-1",
    };
  }

  #sessionService(): SessionService {
    const find = (id: string): SessionInfo | undefined => this.sessions.find((one) => one.id === id);
    return {
      list: ({ clientId }, limit) =>
        this.sessions.filter((one) => clientId === undefined || one.clientId === clientId).slice(0, limit),
      find,
      page: ({ clientId, archived }, limit, before) => {
        if (before !== undefined) throw new SvcError("BAD_REQUEST", "The cursor is unknown.");
        const seen = this.sessions.filter(
          (one) =>
            (clientId === undefined || one.clientId === clientId) &&
            (archived === undefined || one.isArchived === archived),
        );
        return { sessions: seen.slice(0, limit), before: seen.length > limit ? "more" : undefined };
      },
      search: (request) => {
        this.searches.push(request);
        const session = this.sessions.find(({ clientId }) => (request.clientId ?? clientId) === clientId);
        const snippet = [{ text: request.query, isHit: true }];
        const results = session ? [{ session, turnId: "t-1", at: 0, role: "user" as const, snippet }] : [];
        return { results, before: undefined };
      },
      update: async (id, changes) => {
        if (this.failUpdate) throw this.failUpdate;
        this.updates.push([id, changes]);
        return find(id);
      },
      markRead: async (id, turns) => {
        if (this.failUpdate) throw this.failUpdate;
        this.updates.push([id, { turns }]);
        return find(id);
      },
      messages: (id, { limit, before }) => {
        if (!find(id)) throw new SvcError("SESSION_UNKNOWN");
        if (before !== undefined && before !== "older") throw new SvcError("BAD_REQUEST", "The cursor is unknown.");
        const followUps = before ? undefined : ({ turnId: "t", ways: ["retry", "edit"] } as const);
        return { messages: before ? [] : this.messages.slice(-limit), before: before ? undefined : "older", followUps };
      },
      cancel: (id) => {
        this.cancelled.push(id);
        return find(id)?.running ?? false;
      },
      remove: (id) => {
        if (this.failRemove) return Promise.reject(this.failRemove);
        const index = this.sessions.findIndex((one) => one.id === id);
        if (index >= 0) this.sessions.splice(index, 1);
        return Promise.resolve(index >= 0);
      },
      agentOf: () => undefined,
      running: () => [],
    };
  }

  #check(): void {
    if (this.broken) throw this.broken;
  }

  #claim(claim: IdempotencyClaim): "new" | "duplicate" {
    const ids = idsOf(claim);
    if (ids.some((id) => this.claimed.has(id))) return "duplicate";
    for (const id of ids) this.claimed.add(id);
    return "new";
  }

  async #write<T>(change: () => T): Promise<T> {
    await new Promise((resolve) => setImmediate(resolve));
    if (this.failWrite) throw this.failWrite;
    this.sops.inTransaction = true;
    try {
      return change();
    } finally {
      this.sops.inTransaction = false;
    }
  }

  async #run(request: TurnRequest, run: HarnessOptions["run"]): Promise<TurnResult> {
    this.turns.push(request);
    const sessionId = request.session ?? "s-new";
    if (!run) request.onStored?.({ turnId: "t-1", conversationId: "c-1", sessionId, waits: false });
    const result = (await run?.(request)) ?? {};
    const base = { turnId: "t-1", agent: "default", response: `echo: ${request.text}`, model: "fake", sessionId };
    return { ...base, inputTokens: 1, outputTokens: 1, costUsd: undefined, ...result };
  }
}

const settingsOf = (options: HarnessOptions): GatewaySettings => ({
  config: { ...CONFIG, ...options.config },
  webhook: {
    signing_secret: undefined,
    agent: undefined,
    ...options.webhook,
    secret: hashedSecret(options.webhook?.secret ?? ""),
  },
  routes: (options.routes ?? []).map((one) => ("route" in one ? one : { feature: FEATURE, route: one })),
  featurePaths: options.featurePaths ?? new Map(),
  authFeatures: options.authFeatures ?? new Set(),
  ingress: options.ingress ?? [],
  ingressPaths: options.ingressPaths ?? new Map(),
  exposition: options.exposition,
  metricsHint: "metrics are off: this is a test",
});

const idsOf = ({ scope, key, also }: IdempotencyClaim): string[] =>
  [key, ...(also === undefined ? [] : [also])].map((one) => `${scope} ${one}`);

const keptAtOnce = ({ messages }: Arrival): Promise<Arrived> =>
  Promise.resolve({ state: "kept", messages: messages.map((_, index) => ({ n: index + 1, turnId: `t-${index}` })) });

/** A conversation as the agent tells of it, but for `more`. */
export const sessionInfo = (
  more: Partial<SessionInfo> & Pick<SessionInfo, "id" | "clientId" | "name">,
): SessionInfo => ({
  createdAt: 0,
  updatedAt: 0,
  turns: 1,
  running: false,
  channel: undefined,
  unread: 0,
  isPinned: false,
  isArchived: false,
  title: "",
  titledBy: "words",
  preview: "",
  newestTurn: 1,
  agent: undefined,
  model: undefined,
  ...more,
});

/** A feature's route with as much of a description as it must have. */
export const route = (
  method: Route["method"],
  path: string,
  handle: Route["handle"] = () => Promise.resolve({ status: 200, body: {} }),
  doc: Partial<Route["doc"]> = {},
): Route => ({ method, path, handle, doc: { summary: "For a test.", answers: {}, ...doc } });
