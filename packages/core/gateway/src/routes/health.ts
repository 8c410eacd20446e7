/** `GET /health`: an anonymous caller learns only whether something is degraded; a device with scope read, what and why. */
import type { IncomingHttpHeaders } from "node:http";
import { HealthReport } from "@svc/api";
import type { Authenticator } from "../auth/authenticator.ts";
import { errorReply, Reply } from "../http/reply.ts";
import type { ClientResolver } from "../middleware/client.ts";
import type { Peer } from "../http/peer.ts";
import { respond, type RouteSpec } from "./route.ts";

/** `/health`: without a token the answer says only whether something is degraded; with one, what and why. */
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

export const HEALTH = {
  method: "GET",
  path: "/health",
  access: "public",
  summary: "Tells whether the service is well.",
  details: "Units and unsigned channels are shown to callers with a token; other callers get the public part.",
  answers: {
    200: {
      description: "It serves.",
      body: HealthReport,
    },
  },
  errors: ["DRAINING", "INTERNAL"],
} satisfies RouteSpec;

export interface HealthRouteDeps {
  readonly health: () => Health;
  readonly authenticator: Authenticator;
  readonly clientOf: ClientResolver;
  readonly isDraining: () => boolean;
  readonly instance: string;
}

export class HealthRoute {
  readonly #deps: HealthRouteDeps;
  readonly #ok: Reply;
  readonly #degraded: Reply;

  constructor(deps: HealthRouteDeps) {
    const { instance } = deps;
    this.#deps = deps;
    this.#ok = respond(HEALTH, 200, { status: "ok", instance });
    this.#degraded = respond(HEALTH, 200, { status: "degraded", instance });
  }

  answer(headers: IncomingHttpHeaders, peer: Peer): Reply {
    const { isDraining, health: ask } = this.#deps;
    if (isDraining()) return errorReply("DRAINING");
    const health = ask();
    if (!this.#mayRead(headers, peer)) return health.degraded ? this.#degraded : this.#ok;
    return respond(HEALTH, 200, {
      status: health.degraded ? "degraded" : "ok",
      instance: this.#deps.instance,
      units: health.units.map(({ id, state, reason = null }) => ({ id, state, reason })),
      unsigned: health.unsigned,
    });
  }

  /** A wrong bearer counts as a guess, but is no reason for a probe to think that the service is down. */
  #mayRead(headers: IncomingHttpHeaders, peer: Peer): boolean {
    const { authenticator, clientOf } = this.#deps;
    if (headers.authorization === undefined && headers["x-svc-csrf"] === undefined) return false;
    return !(authenticator.require(headers, clientOf(headers, peer), "read") instanceof Reply);
  }
}
