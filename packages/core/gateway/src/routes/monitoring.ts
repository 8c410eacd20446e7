/** What probes read: `GET /health` and `GET /metrics`. */
import type { IncomingHttpHeaders } from "node:http";
import { HealthReport } from "@svc/api";
import type { Authenticator } from "../auth/authenticator.ts";
import { Reply, errorReply } from "../http/reply.ts";
import type { ClientResolver, Peer, ThrottledLog } from "../client.ts";
import { type RouteSpec, respond } from "./route.ts";
import type { Exposition, Logger } from "@svc/contract";
import type { Ongoing } from "@svc/runtime";
import * as v from "valibot";
import type { Handle } from "../pipeline.ts";
import type { Send } from "../http/send.ts";

// `GET /health`: an anonymous caller learns only whether something is degraded; a device with scope read, what and why.

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

// `GET /metrics`: the numbers of the feature that has them, or a comment that says how to have them.

/** As the text exposition format wants it. */
const TYPE = "text/plain; version=0.0.4; charset=utf-8";

export const METRICS: RouteSpec = {
  method: "GET",
  path: "/metrics",
  access: "public",
  summary: "Tells numbers in the text exposition format.",
  answers: { 200: { description: "Metrics, or a comment that says how to have them.", body: v.string(), type: TYPE } },
  errors: ["INTERNAL"],
};

interface MetricsDeps {
  /** The feature stays in use as long as a caller waits for its metrics. */
  readonly ongoing: Ongoing;
  readonly throttledLog: ThrottledLog;
  readonly send: Send;
  readonly log: Logger;
}

export interface MetricsSettings {
  /** The content of `GET /metrics`. */
  readonly exposition: Exposition | undefined;
  /** The answer without an exposition: one line on how to enable it. */
  readonly metricsHint: string;
}

export function metricsHandle({ exposition, metricsHint }: MetricsSettings, deps: MetricsDeps): Handle {
  if (exposition === undefined) {
    const hint = new Reply(200, TYPE, `# ${metricsHint}\n`);
    return () => hint;
  }
  const { ongoing, throttledLog, send, log } = deps;
  const made = async (): Promise<Reply> => {
    try {
      return new Reply(200, TYPE, await ongoing.during(() => exposition.text()));
    } catch (error) {
      const times = throttledLog.note("metrics");
      // What was thrown is a library's, and may be about anything.
      const threw = error instanceof Error ? error.constructor.name : typeof error;
      if (times > 0) log.error("the metrics could not be told", { threw, times });
      return errorReply("INTERNAL");
    }
  };
  // The route is public: concurrent callers share one rendering.
  let pending: Promise<Reply> | undefined;
  return (incoming, outgoing) => {
    pending ??= made().finally(() => (pending = undefined));
    void pending.then((reply) => send(incoming, outgoing, reply));
    return undefined;
  };
}
