/** Dependencies and result of the gateway. */
import type { Attachments, SessionService, TurnRunner } from "@svc/agent";
import type { MessageAdmin, Messaging } from "@svc/messaging";
import type { ClientId, Clock, Logger, Speech } from "@svc/contract";
import type { CoreConfig } from "@svc/config";
import type { EventHub, Tracer, RegisteredIngress, RegisteredRoute } from "@svc/runtime";
import type { ChannelEvents } from "@svc/sop";
import type { DeviceStore, PairedDevices } from "./auth/authenticator.ts";
import type { PageSessionStore } from "./auth/page-sessions.ts";
import type { Pairing, PairingLinks } from "./auth/pairing.ts";
import type { IdempotencyStore } from "./pipeline.ts";
import type { PushDeps } from "./web-push.ts";
import type { GatewayApprovals, PolicyRules } from "./routes/approvals.ts";
import type { IngressPath } from "./routes/channel-ingress.ts";
import type { FeaturePath } from "./routes/features.ts";
import type { Health, MetricsSettings } from "./routes/monitoring.ts";
import type { Operations } from "./routes/operations.ts";
import type { PageFile } from "./routes/page-files.ts";
import type { Reports } from "./routes/reports.ts";
import type { SettingsAdmin } from "./routes/settings.ts";
import type { GatewaySops, SopAuthor } from "./routes/sops.ts";
import type { SubscriberLimits } from "./streams/subscribers.ts";

/** The part of the durable state the gateway touches. */
export interface GatewayStore {
  readonly devices: DeviceStore;
  readonly idempotency: IdempotencyStore;
  /** Runs `change` in a transaction, maybe twice; resolves once it is on disk. Rejects with STORE_*. */
  write<T>(change: () => T): Promise<T>;
}

/** What a reload can change. */
export interface GatewaySettings extends MetricsSettings {
  readonly config: CoreConfig["gateway"];
  readonly webhook: CoreConfig["channels_config.webhook"];
  /** Those of features. */
  readonly routes: readonly RegisteredRoute[];
  /** By path, those of all features there are: one that no route serves says why. */
  readonly featurePaths: ReadonlyMap<string, FeaturePath>;
  /** Features that may sign a page in. */
  readonly authFeatures: ReadonlySet<string>;
  /** Ways in of channels. */
  readonly ingress: readonly RegisteredIngress[];
  /** By path, those of all channels there are (`ingressPathsOf`): one without a way in is answered NOT_CONFIGURED. */
  readonly ingressPaths: ReadonlyMap<string, IngressPath>;
}

export interface GatewayDeps extends GatewaySettings, Reports {
  readonly store: GatewayStore;
  readonly turns: TurnRunner;
  readonly sessions: SessionService;
  /** Where the deliveries of channels are kept. */
  readonly inbox: Pick<Messaging, "accept" | "replyByHand" | "shutOut">;
  readonly messageAdmin: MessageAdmin;
  readonly attachments: Pick<Attachments, "receive" | "discard" | "read" | "sweep">;
  readonly speech: Pick<Speech, "canTranscribe" | "transcribe">;
  readonly events: EventHub;
  /** How many may be told of them at once. Default: 12 000, 10 000 of one device. */
  readonly subscriberLimits?: SubscriberLimits;
  readonly approvals: GatewayApprovals;
  readonly policyRules: PolicyRules;
  readonly settingsAdmin: SettingsAdmin;
  readonly operations: Operations;
  readonly sops: GatewaySops;
  readonly sopAuthor: SopAuthor;
  readonly channelEvents: ChannelEvents;
  readonly pageSessions: PageSessionStore;
  /** What push messages need of the outside. */
  readonly push: PushDeps;
  /** By path, `/` included. */
  readonly page: ReadonlyMap<string, PageFile>;
  /** The client no longer exists: its device was revoked, or its connection closed. Must not throw. */
  onClientGone(clientId: ClientId): void;
  /** False: the channel's feature is on and gave up. Its path answers CHANNEL_DOWN then, so that the platform tries again. */
  isUp(feature: string): boolean;
  /** Whether there is a channel of this id, and messages go out by it. */
  isChannelUp(channel: string): boolean;
  health(): Health;
  /** Told of every request. */
  readonly tracer: Tracer;
  readonly log: Logger;
  readonly clock: Clock;
  readonly version: string;
  /** Random per start; tells two runs apart. */
  readonly instance: string;
}

export interface Gateway {
  /** `http://host:port`, reachable from this machine. */
  readonly url: string;
  readonly port: number;
  readonly instance: string;
  readonly pairing: Pairing;
  /** Links that sign a browser in with a code of `pairing`. */
  linksOf(code: string): PairingLinks;
  readonly devices: PairedDevices;
  readonly seen: {
    /** A request came with forwarding headers while `gateway.trust_forwarded_headers` is off. */
    readonly untrustedForwarding: boolean;
  };
  /** Open connections. */
  readonly connections: number;
  /**
   * From the next request on the new settings are in force, all of them; requests that have begun end with the old ones.
   * Host and port stay. Throws PUBLIC_BIND, CONFIG_INVALID, FEATURE_CONFLICT before anything is changed.
   */
  reconfigure(settings: GatewaySettings): RequestsBefore;
  /**
   * Whether another gateway with this config could take the place of this one. Throws PUBLIC_BIND, ADDRESS_IN_USE,
   * CONFIG_INVALID, and STORE_FAILED while a revocation is not on disk: the next one would not know of it.
   */
  checkSuccessor(config: GatewaySettings["config"]): Promise<void>;
  /** From now on new work and /health are answered 503; what runs goes on, and reading still works. */
  drain(): void;
  /**
   * Drains, lets running turns end for at most `graceMs`, aborts the rest, then stops listening. Resolves when every
   * connection is closed. Idempotent; a later call with 0 aborts the turns and cuts the connections at once.
   */
  close(graceMs: number): Promise<void>;
}

/** The requests to routes of features that began before a reconfiguration. */
export interface RequestsBefore {
  /** Resolves when the last of them has ended: until then the features that serve them are in use. */
  idle(): Promise<void>;
}
