/** What the gateway is given, and what it gives back. */
import type { ClientId, Clock, Exposition, Json, Logger, Speech } from "@svc/contract";
import type { Attachments, MessageAdmin, Messaging, SessionService, TurnRunner } from "@svc/agent";
import type { CoreConfig, EventHub, Instruments, RegisteredIngress, RegisteredRoute } from "@svc/kernel";
import type { Approvals, ChannelEvents, Sops } from "@svc/sop";
import type { Device, IdempotencyClaim, PageSession } from "@svc/store";
import type { FeaturePath } from "./routes/features.ts";
import type { Operations } from "./routes/operations.ts";
import type { Reports } from "./routes/reports.ts";
import type {
  ChangeBody,
  SendBody,
  SettingsDiff,
  SettingsPreviewed,
  SettingsSaved,
  SettingsState,
  SettingsVersion,
  TryBody,
} from "./routes/settings.ts";
import type { DraftBody as SopDraftBody, SaveBody as SopSaveBody } from "./routes/sop-editor.ts";
import type { IngressPath } from "./routes/channel-ingress.ts";
import type { CrowdLimits } from "./streams/subscribers.ts";
import type { Pairing, PairingLinks } from "./auth/pairing.ts";
import type { PushDeps } from "./push/web-push.ts";

/** The part of the durable state the gateway touches. */
export interface GatewayStore {
  readonly devices: {
    all(): readonly Device[];
    /** Resolves when the device is durable; rejects when it could not be written. */
    add(device: Device): Promise<void>;
    /** Both resolve with whether there is such a device, once the change is durable; both reject when it is not. */
    rename(id: string, name: string): Promise<boolean>;
    remove(id: string): Promise<boolean>;
    /** Notes a use; cheap, never waited for. */
    touch(id: string, atMs: number): void;
  };
  readonly idempotency: {
    /** A key that runs or is stored within its TTL is a duplicate. Otherwise it is claimed, for the turn to settle. */
    claim(claim: IdempotencyClaim): "new" | "duplicate";
    /** Inside a transaction: from then on the key is a duplicate, over restarts too. `workId`: of what it started. */
    keep(claim: IdempotencyClaim, workId: string, state: "done"): void;
    /** The claim ends: what is on disk decides from now on. */
    release(claim: IdempotencyClaim): void;
  };
  /** Runs `change` in a transaction, maybe twice; resolves once it is on disk. Rejects with STORE_*. */
  write<T>(change: () => T): Promise<T>;
}

/** Sign-ins of the page, over restarts. */
export interface PageSessionStore {
  all(): readonly PageSession[];
  /** Both resolve once it is on disk, and reject with STORE_*. */
  add(session: PageSession): Promise<void>;
  remove(idHash: string): Promise<void>;
  /** Notes a use; cheap, never waited for. */
  touch(idHash: string, atMs: number): void;
}

/** A file of the page that is served at `/`. */
export interface PageFile {
  /** `Content-Type`. */
  readonly type: string;
  readonly bytes: Uint8Array;
  /** Gzip of the same, where that is smaller. */
  readonly gzip?: Uint8Array;
  /** Its name changes with its content, so that it may be kept for good. */
  readonly isImmutable: boolean;
}

/** What a reload can change. */
export interface GatewaySettings {
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
  /** What `GET /metrics` tells. */
  readonly exposition: Exposition | undefined;
  /** What it says where there is none: one line on how to have them. */
  readonly metricsHint: string;
}

/** What the gateway asks of approvals. */
export type GatewayApprovals = Pick<Approvals, "get" | "list" | "resolve">;

/** A call that runs without asking, because a person said always to it. */
export interface PolicyRule {
  readonly id: string;
  readonly agent: string;
  readonly tool: string;
  /** All that has to be equal. */
  readonly pattern: string;
}

/** Rules of the config in force. */
export interface PolicyRules {
  list(): readonly PolicyRule[];
  /** Resolves once it is out of force; false: there is no such rule. Rejects with CONFIG_*, STORE_*. */
  revoke(id: string, by: string): Promise<boolean>;
}

/** The config file as the page edits it. Rejects with SETTINGS_*, CONFIG_*, VERSION_UNKNOWN. */
export interface SettingsAdmin {
  read(): Promise<SettingsState>;
  preview(change: ChangeBody): Promise<SettingsPreviewed>;
  save(change: ChangeBody, revision: string, by: string): Promise<SettingsSaved>;
  versions(): Promise<readonly SettingsVersion[]>;
  changeOf(version: number): Promise<SettingsDiff>;
  models(request: TryBody, signal: AbortSignal): Promise<unknown>;
  testModel(request: TryBody, signal: AbortSignal): Promise<unknown>;
  testChannel(request: SendBody, signal: AbortSignal): Promise<unknown>;
}

/** What the gateway asks of procedures. */
export type GatewaySops = Pick<
  Sops,
  "hasPath" | "dispatchIn" | "run" | "test" | "retry" | "calendar" | "list" | "broken" | "runs" | "readRun" | "cancel"
> & { readonly audit: Pick<Sops["audit"], "list"> };

/** Where procedures are written. Rejects with SOP_*, VERSION_UNKNOWN, STORE_*. */
export interface SopAuthor {
  read(name: string): Promise<Json>;
  check(draft: SopDraftBody): Promise<Json>;
  save(name: string, files: SopSaveBody, by: string): Promise<Json>;
  duplicate(name: string, copy: string, by: string): Promise<Json>;
  setEnabled(name: string, enabled: boolean, by: string): Promise<Json>;
  delete(name: string, by: string): Promise<Json>;
  rename(name: string, to: string, by: string): Promise<Json>;
  versions(name: string | undefined): Promise<Json>;
  version(number: number): Promise<Json>;
  undo(number: number, revision: string | undefined, by: string): Promise<Json>;
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
  /** How many may be told of them at once. Default: 5 000, 2 000 of one device. */
  readonly crowdLimits?: CrowdLimits;
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
  /** Nobody is this client any more: its device was revoked, or the connection that it was is closed. Must not throw. */
  onClientGone(clientId: ClientId): void;
  /** False: the channel's feature is on and gave up. Its path answers CHANNEL_DOWN then, so that the platform tries again. */
  isUp(feature: string): boolean;
  /** Whether there is a channel of this id, and messages go out by it. */
  isChannelUp(channel: string): boolean;
  health(): Health;
  /** Told of every request. */
  readonly instruments: Instruments;
  readonly log: Logger;
  readonly clock: Clock;
  readonly version: string;
  /** Random per start; tells two runs apart. */
  readonly instance: string;
}

/** `/health`: the public is told only whether something is degraded; a bearer, what and why. */
export interface Health {
  readonly degraded: boolean;
  readonly units: readonly HealthUnit[];
  /** Channels that take messages without checking a signature. */
  readonly unsigned: readonly string[];
}

/** A part that can fail on its own. */
export interface HealthUnit {
  readonly id: string;
  readonly state: string;
  readonly reason?: string | undefined;
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

export interface PairedDevices {
  list(): readonly Device[];
  /** Resolves once it is on disk, with whether there is such a device. Throws BAD_REQUEST, STORE_*. */
  rename(id: string, name: string): Promise<boolean>;
  /**
   * Shuts the device out at once: its token, its turns, its connections. Resolves once that is on disk, with whether
   * there was such a device. Rejects with STORE_* when it could not be stored; the device is shut out all the same, until
   * a restart, and still listed.
   */
  revoke(id: string): Promise<boolean>;
}
