/**
 * `POST` on a path that is no route's, and that starts procedures, apart from the bytes on the wire. The order of checks is
 * that of `/webhook`:
 *
 *   admit   limit 429 → bearer 401 → X-Webhook-Secret 401 → content type 415
 *   (the caller reads the body: size 413)
 *   accept  signature 401 → UTF-8, JSON 400 → idempotency header 400 → idempotency → runs
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { Dispatched, Sops } from "@svc/sop";
import { openExchange, type Streams } from "../auth/device-connections.ts";
import { withBody, type WithBodyDeps } from "../http/body.ts";
import type { LatePaths } from "../http/listener.ts";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import { pathPattern } from "../http/request.ts";
import type { Peer } from "../middleware/client.ts";
import type { Caller, WebhookLayers } from "../middleware/webhook-admission.ts";
import type { SlidingWindow } from "../rate-limit.ts";
import type { RequestEvents } from "../sop-events.ts";
import { claimOf } from "../webhook/claim.ts";
import { DUPLICATE_REPLY, idempotencyKey } from "./webhook.ts";

export interface SopIngressDeps {
  readonly layers: WebhookLayers;
  /** Of all these paths together; as large as that of `/webhook`, and apart from it. */
  readonly limit: SlidingWindow;
  readonly events: RequestEvents;
  readonly log: Logger;
}

export class SopIngress {
  readonly #deps: SopIngressDeps;

  constructor(deps: SopIngressDeps) {
    this.#deps = deps;
  }

  /** Everything that is decided before the body is read. */
  admit(headers: IncomingHttpHeaders, peer: Peer): Caller | Reply {
    return this.#deps.layers.admit(headers, peer, this.#deps.limit);
  }

  /** Starts what an admitted request fits. Never rejects. */
  accept(caller: Caller, path: string, headers: IncomingHttpHeaders, body: Buffer): Promise<Reply> {
    return this.#deps.layers.proven(headers, body, (signed) => this.#answer(caller, path, headers, body, signed));
  }

  async #answer(
    caller: Caller,
    path: string,
    headers: IncomingHttpHeaders,
    body: Buffer,
    signed: string | undefined,
  ): Promise<Reply> {
    if (parseJson(body) === undefined) return errorReply("BAD_JSON");
    const key = idempotencyKey(headers["x-idempotency-key"]);
    if (key instanceof Reply) return key;
    // The sender's key is about one path: a build may tell several of them of itself. The signed id is about the request,
    // which does not say where it was sent to.
    const claim = claimOf(caller.owner, key === undefined ? undefined : `${path} ${key}`, signed);
    try {
      const started = await this.#deps.events.start(path, body, caller, claim);
      return started === "duplicate" ? DUPLICATE_REPLY : startedReply(started);
    } catch (error) {
      const reply = replyToError(error);
      const cause = error instanceof Error ? error.message : "unknown";
      this.#deps.log.warn("a request could not start procedures", { path, status: reply.status, cause });
      return reply;
    }
  }
}

const startedReply = ({ runs, skipped }: Dispatched): Reply =>
  jsonReply(202, {
    runs: runs.map(({ sop, runId }) => ({ sop, run_id: runId })),
    skipped: skipped.map(({ sop, reason }) => ({ sop, reason })),
  });

// The paths of procedures: any that is no route's, as it is written in a trigger. They come and go with the files.

export interface SopPathsDeps extends WithBodyDeps {
  readonly sops: Pick<Sops, "hasPath">;
  readonly ingress: SopIngress;
  readonly streams: Streams;
  readonly maxBodyBytes: number;
  /** Of all routes that are not looked for first. */
  readonly taken: readonly string[];
}

export function sopPaths(deps: SopPathsDeps): LatePaths {
  const { sops, ingress, streams, send, maxBodyBytes } = deps;
  const taken = deps.taken.map(pathPattern);
  return {
    has: (path) => sops.hasPath(path) && !taken.some((pattern) => pattern.test(path)),
    methods: {
      POST(incoming, outgoing, peer, path) {
        const caller = ingress.admit(incoming.headers, peer);
        if (caller instanceof Reply) return caller;
        if (caller.device) openExchange(streams, { device: caller.device }, send, incoming, outgoing);
        return withBody(deps, incoming, outgoing, maxBodyBytes, (body) =>
          ingress.accept(caller, path, incoming.headers, body),
        );
      },
    },
  };
}
