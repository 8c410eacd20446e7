/** What outlives a change of settings: devices, sign-ins, lockouts, limits, seen ids, running turns. */
import type { RequestListener } from "node:http";
import { SvcError } from "@svc/contract";
import { Authenticator, DeviceConnections, Devices, PublicAccess } from "./auth/authenticator.ts";
import { PageSessions } from "./auth/page-sessions.ts";
import { Pairing } from "./auth/pairing.ts";
import { MemoryBudget, Requests } from "./http/request.ts";
import { type Send, sender } from "./http/send.ts";
import { ForwardingMonitor, SlidingWindow, type SlidingWindowOptions, ThrottledLog } from "./client.ts";
import { type Handle, RunningTurns } from "./pipeline.ts";
import { REMEMBER_MS } from "./pipeline.ts";
import { SeenIds } from "./routes/webhook.ts";
import { WebPush } from "./web-push.ts";
import type { OperationLimits } from "./routes/operations.ts";
import { pageHandles } from "./routes/page-files.ts";
import type { SettingsLimits } from "./routes/settings.ts";
import { SubscriberRegistry } from "./streams/subscribers.ts";
import { SocketLibrary } from "./streams/upgrade.ts";
import type { GatewayDeps, GatewaySettings } from "./types.ts";
import { errorReply } from "./http/reply.ts";
import type { ApiDeps, ApiRoutes } from "./routes/api.ts";

export interface StateDeps {
  readonly gateway: GatewayDeps;
  /** Those in force. */
  readonly settings: () => GatewaySettings;
  readonly isDraining: () => boolean;
  /** Serves a request by the settings in force. */
  readonly serve: RequestListener;
}

const DAY_MS = 86_400_000;

export class GatewayState {
  /** Without the settings: those in force are in `settings()`. */
  readonly deps: Omit<GatewayDeps, keyof GatewaySettings>;
  readonly settings: () => GatewaySettings;
  readonly isDraining: () => boolean;
  readonly send: Send;
  readonly api: ApiLibrary;
  readonly page: ReadonlyMap<string, Handle>;
  readonly socketLibrary = new SocketLibrary();
  readonly requests: Requests;
  readonly throttledLog: ThrottledLog;
  readonly forwarding: ForwardingMonitor;

  readonly devices: Devices;
  readonly pageSessions: PageSessions;
  readonly authenticator: Authenticator;
  readonly publicAccess: PublicAccess;
  readonly pairing: Pairing;
  /** Open requests and streams of each device. */
  readonly connections = new DeviceConnections();
  readonly running = new RunningTurns();
  readonly subscribers: SubscriberRegistry;
  readonly push: WebPush;
  readonly seenIds = new SeenIds(REMEMBER_MS);

  readonly webhookLimit: SlidingWindow;
  /** Of all paths of procedures together; as large as that of `/webhook`, and apart from it. */
  readonly sopLimit: SlidingWindow;
  readonly pairLimit = perMinute(10);
  readonly settingsLimits: SettingsLimits = { changes: perMinute(240), tests: perMinute(20) };
  readonly operationLimits: OperationLimits = { checks: perMinute(10), backups: perMinute(3) };

  /** For the bodies of deliveries, and of clients without credentials. */
  readonly bodyMemory = new MemoryBudget();
  /** For the bodies of devices: strangers must not take their memory. */
  readonly deviceBodyMemory = new MemoryBudget();
  /** For messages of WebSockets. */
  readonly messageMemory = new MemoryBudget();

  constructor({ gateway, settings, isDraining, serve }: StateDeps) {
    const { clock, log } = gateway;
    this.deps = gateway;
    this.settings = settings;
    this.isDraining = isDraining;
    this.send = sender(clock, isDraining);
    this.api = new ApiLibrary(this.send, serve);
    this.page = pageHandles(gateway.page);
    this.requests = new Requests(gateway.instance, gateway.tracer);
    this.throttledLog = new ThrottledLog(clock);
    this.forwarding = new ForwardingMonitor(log);
    this.webhookLimit = new SlidingWindow(webhookLimitOf(gateway));
    this.sopLimit = new SlidingWindow(webhookLimitOf(gateway));
    this.subscribers = new SubscriberRegistry(gateway.events, clock, gateway.subscriberLimits);
    this.devices = new Devices({
      store: gateway.store.devices,
      clock,
      log,
      onRevoked: ({ id, clientId }) => {
        // In this order: a caller that waits for a turn gets its answer before the abort could change it.
        this.connections.closeAll(id);
        this.pageSessions.endOf(id);
        this.running.abortOf(id, new SvcError("UNAUTHORIZED", "This device was revoked."));
        void gateway.inbox.shutOut(clientId);
        gateway.onClientGone(clientId);
      },
    });
    // Before the sign-ins: those report expired ones at once.
    this.push = new WebPush({
      ...gateway.push,
      events: gateway.events,
      isSignedIn: (id) => this.pageSessions.has(id),
      publicUrl: () => settings().config.public_url,
      clock,
      log,
    });
    this.pageSessions = new PageSessions({
      store: gateway.pageSessions,
      devices: this.devices,
      clock,
      log,
      idleMs: () => settings().config.page_session_days * DAY_MS,
      onEnd: (signIn) => {
        this.connections.closeOf(signIn);
        this.push.forget(signIn.id);
      },
    });
    this.authenticator = new Authenticator(this.devices, this.pageSessions, clock, log);
    // A person who reloads a sign-in page does not notice the limit, which is of all open routes together.
    this.publicAccess = new PublicAccess({ authenticator: this.authenticator, limit: perMinute(30), clock });
    const requirePairing = (): boolean => settings().config.require_pairing;
    this.pairing = new Pairing({ devices: this.devices, requirePairing, clock, log });
  }

  /** Takes the limits of settings that are in force from now on. */
  configure(settings: GatewaySettings): void {
    for (const limit of [this.webhookLimit, this.sopLimit]) limit.configure(webhookLimitOf(settings));
    if (settings.config.trust_forwarded_headers) this.forwarding.reset();
  }
}

function perMinute(limit: number): SlidingWindow {
  return new SlidingWindow({ limit, windowMs: 60_000, maxKeys: 0 });
}

const webhookLimitOf = ({ config }: GatewaySettings): SlidingWindowOptions => ({
  limit: config.webhook_rate_limit_per_minute,
  windowMs: 60_000,
  maxKeys: config.rate_limit_max_keys,
});

type MakeListener = (parts: ApiRoutes, deps: ApiDeps) => RequestListener;

/**
 * Loads hono and the routes on it with the first request they are for: the start, and a daemon that only takes webhooks, do without them.
 * Shared by all versions of the settings, so that they are loaded once.
 */
class ApiLibrary {
  readonly #send: Send;
  readonly #again: RequestListener;
  #apiListener: MakeListener | undefined;
  #loading: Promise<void> | undefined;

  /** `again`: takes a request that waited for the library, by the settings of that moment. */
  constructor(send: Send, again: RequestListener) {
    this.#send = send;
    this.#again = again;
  }

  listener(parts: ApiRoutes, deps: ApiDeps): RequestListener {
    let listener: RequestListener | undefined;
    return (incoming, outgoing) => {
      if (this.#apiListener === undefined) {
        this.#load().then(
          () => this.#again(incoming, outgoing),
          () => this.#send(incoming, outgoing, errorReply("INTERNAL")),
        );
        return;
      }
      listener ??= this.#apiListener(parts, deps);
      listener(incoming, outgoing);
    };
  }

  #load(): Promise<void> {
    this.#loading ??= import("./routes/api.ts").then(
      ({ apiListener }) => void (this.#apiListener = apiListener),
      (cause: unknown) => {
        // Out of file descriptors, say: the next request tries again.
        this.#loading = undefined;
        throw cause;
      },
    );
    return this.#loading;
  }
}
