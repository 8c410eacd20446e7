/** What outlives a change of settings: who is known, who is locked out, what was seen, what runs. */
import type { RequestListener } from "node:http";
import { SvcError } from "@svc/contract";
import { ApiLibrary } from "./api/library.ts";
import { type OperationLimits, operationLimits } from "./routes/operations.ts";
import { type SettingsLimits, settingsLimits } from "./routes/settings.ts";
import { Authenticator, OpenDoor, openLimit } from "./auth/authenticator.ts";
import { Devices } from "./auth/devices.ts";
import { PageSessions } from "./auth/page-sessions.ts";
import { Streams } from "./auth/device-connections.ts";
import { MemoryRoom } from "./http/memory-budget.ts";
import type { Handle } from "./http/listener.ts";
import { type Send, sender } from "./http/send.ts";
import { SlidingWindow, type SlidingWindowOptions } from "./rate-limit.ts";
import { ForwardingWatch } from "./middleware/client.ts";
import { Requests } from "./middleware/tracing.ts";
import { pageHandles } from "./routes/page-files.ts";
import { Pairing } from "./auth/pairing.ts";
import { pairingLimit } from "./routes/pair.ts";
import { WebPush } from "./push/web-push.ts";
import { RareLines } from "./throttled-log.ts";
import { RunningTurns } from "./running-turns.ts";
import { Crowd } from "./streams/subscribers.ts";
import { SocketLibrary } from "./streams/upgrade.ts";
import type { GatewayDeps, GatewaySettings } from "./types.ts";
import { REMEMBER_MS, SeenIds } from "./middleware/webhook-admission.ts";

export interface Lasting {
  /** Those in force. */
  readonly settings: () => GatewaySettings;
  readonly deps: Omit<GatewayDeps, keyof GatewaySettings>;
  readonly api: ApiLibrary;
  readonly authenticator: Authenticator;
  /** Of routes of features that are open to everybody. */
  readonly openDoor: OpenDoor;
  readonly devices: Devices;
  readonly pageSessions: PageSessions;
  readonly push: WebPush;
  readonly streams: Streams;
  /** Who is told events. */
  readonly crowd: Crowd;
  readonly socketLibrary: SocketLibrary;
  readonly page: ReadonlyMap<string, Handle>;
  readonly pairing: Pairing;
  readonly running: RunningTurns;
  readonly webhookLimit: SlidingWindow;
  /** Of the paths of procedures. */
  readonly sopLimit: SlidingWindow;
  readonly pairLimit: SlidingWindow;
  readonly settingsLimits: SettingsLimits;
  readonly operationLimits: OperationLimits;
  readonly seenIds: SeenIds;
  readonly forwarding: ForwardingWatch;
  /** For the bodies of deliveries, and of clients without credentials. */
  readonly bodyRoom: MemoryRoom;
  /** For the bodies of devices: strangers must not take their room. */
  readonly deviceBodyRoom: MemoryRoom;
  /** For messages of WebSockets. */
  readonly messageRoom: MemoryRoom;
  readonly rareLines: RareLines;
  readonly requests: Requests;
  readonly send: Send;
  readonly isDraining: () => boolean;
}

export interface Surroundings {
  /** Those in force. */
  readonly settings: () => GatewaySettings;
  readonly isDraining: () => boolean;
  /** Serves a request by the settings in force. */
  readonly serve: RequestListener;
}

const DAY_MS = 86_400_000;

export function makeLasting(deps: GatewayDeps, { settings, isDraining, serve }: Surroundings): Lasting {
  const { clock, log, store } = deps;
  const running = new RunningTurns();
  const streams = new Streams();
  const devices = new Devices({
    store: store.devices,
    clock,
    log,
    onRevoked({ id, clientId }) {
      // In this order: whoever waits for a turn is answered before its abortion can be.
      streams.closeAll(id);
      pageSessions.endOf(id);
      running.abortOf(id, new SvcError("UNAUTHORIZED", "This device was revoked."));
      void deps.inbox.shutOut(clientId);
      deps.onClientGone(clientId);
    },
  });
  // Before the sign-ins: those that ended meanwhile are told of at once.
  const push = new WebPush({
    ...deps.push,
    events: deps.events,
    isSignedIn: (id) => pageSessions.has(id),
    publicUrl: () => settings().config.public_url,
    clock,
    log,
  });
  const pageSessions = new PageSessions({
    store: deps.pageSessions,
    devices,
    clock,
    log,
    idleMs: () => settings().config.page_session_days * DAY_MS,
    onEnd(signIn) {
      streams.closeOf(signIn);
      push.forget(signIn.id);
    },
  });
  const send = sender(clock, isDraining);
  const authenticator = new Authenticator(devices, pageSessions, clock, log);
  const requirePairing = (): boolean => settings().config.require_pairing;
  return {
    settings,
    deps,
    api: new ApiLibrary(send, serve),
    authenticator,
    openDoor: new OpenDoor({ authenticator, openLimit: openLimit(), clock }),
    devices,
    page: pageHandles(deps.page),
    pageSessions,
    push,
    streams,
    crowd: new Crowd(deps.events, clock, deps.crowdLimits),
    socketLibrary: new SocketLibrary(),
    pairing: new Pairing({ devices, requirePairing, clock, log }),
    running,
    webhookLimit: new SlidingWindow(webhookLimitOf(deps)),
    sopLimit: new SlidingWindow(webhookLimitOf(deps)),
    pairLimit: pairingLimit(),
    settingsLimits: settingsLimits(),
    operationLimits: operationLimits(),
    seenIds: new SeenIds(REMEMBER_MS),
    forwarding: new ForwardingWatch(log),
    bodyRoom: new MemoryRoom(),
    deviceBodyRoom: new MemoryRoom(),
    messageRoom: new MemoryRoom(),
    rareLines: new RareLines(clock),
    requests: new Requests(deps.instance, deps.instruments),
    send,
    isDraining,
  };
}

export const webhookLimitOf = ({ config }: GatewaySettings): SlidingWindowOptions => ({
  limit: config.webhook_rate_limit_per_minute,
  windowMs: 60_000,
  maxKeys: config.rate_limit_max_keys,
});
