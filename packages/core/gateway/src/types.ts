/** What the gateway is given, and what it gives back. */
import type { ClientId, Clock, Json, Logger, Route } from "@svc/contract";
import type { TurnRunner } from "@svc/agent";
import type { CoreConfig } from "@svc/kernel";
import type { Device, IdempotencyClaim, SessionSummary } from "@svc/store";
import type { Pairing } from "./pairing/pairing.ts";

/** The part of the durable state the gateway touches. */
export interface GatewayStore {
  readonly devices: {
    all(): readonly Device[];
    /** Resolves when the device is durable; rejects when it could not be written. */
    add(device: Device): Promise<void>;
    /** Notes a use; cheap, never waited for. */
    touch(id: string, atMs: number): void;
  };
  readonly idempotency: {
    /** A key that runs or is stored within its TTL is a duplicate. Otherwise it is claimed, for the turn to settle. */
    claim(claim: IdempotencyClaim): "new" | "duplicate";
  };
  readonly sessions: {
    /** Most recently active first. */
    list(filter: { clientId?: ClientId }, limit: number): SessionSummary[];
  };
}

export interface GatewayDeps {
  readonly config: CoreConfig["gateway"];
  readonly webhook: CoreConfig["channels_config.webhook"];
  readonly store: GatewayStore;
  readonly turns: TurnRunner;
  /** Bodies of `GET /api/status|tools|features`. */
  status(): Json;
  tools(): Json;
  features(): Json;
  /** Bearer routes of features. */
  readonly routes: readonly Route[];
  /** What `/health` says in public; nothing about why. */
  health(): { readonly degraded: boolean };
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
  /** Open connections. */
  readonly connections: number;
  /** From now on new work and /health are answered 503; what runs goes on, and reading still works. */
  drain(): void;
  /**
   * Drains, lets running turns end for at most `graceMs`, aborts the rest, then stops listening. Resolves when every
   * connection is closed. Idempotent; a later call with 0 aborts the turns and cuts the connections at once.
   */
  close(graceMs: number): Promise<void>;
}
