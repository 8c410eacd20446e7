/**
 * Whom a route lets in that is open to everybody: pages of ours and programs, not pages of others, and nobody more often
 * than a person needs it.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "@svc/contract";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Principal } from "../auth/principal.ts";
import { errorReply, Reply } from "../http/reply.ts";
import { SlidingWindow } from "../limits/sliding-window.ts";
import type { Client } from "../net/client.ts";
import { isNobodyElses } from "../page/own-page.ts";

/** Thirty requests a minute, of all open routes together: a person who reloads a sign-in page does not notice. */
export const openLimit = (): SlidingWindow => new SlidingWindow({ limit: 30, windowMs: 60_000, maxKeys: 0 });

export interface OpenDoorDeps {
  readonly authenticator: Authenticator;
  /** `openLimit()`; it outlives a reload. */
  readonly openLimit: SlidingWindow;
  readonly clock: Clock;
}

export class OpenDoor {
  readonly #deps: OpenDoorDeps;

  constructor(deps: OpenDoorDeps) {
    this.#deps = deps;
  }

  /** Who it is, undefined for a stranger, or the refusal: 403 BAD_ORIGIN, 429, 401 for a token that is wrong. */
  admit(headers: IncomingHttpHeaders, client: Client): Principal | Reply | undefined {
    const { authenticator, openLimit: limit, clock } = this.#deps;
    // Before the limit: a site that its visitors' browsers send here must not use up what is theirs.
    if (!isNobodyElses(headers)) return errorReply("BAD_ORIGIN");
    const waitMs = limit.take(client.limiterKey, clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    return authenticator.meet(headers, client);
  }
}
