/** `POST /api/channel-events`: what programs on this machine tell people and procedures. Nobody else gets in. */
import type { IncomingHttpHeaders } from "node:http";
import type { Logger } from "@svc/contract";
import type { ChannelEvents } from "@svc/sop";
import * as v from "valibot";
import { refuseContentType } from "../http/json.ts";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import type { HostRules } from "../net/host-rules.ts";
import { isLocalOnly } from "../net/local-only.ts";
import type { Peer } from "../net/peer.ts";
import type { RouteSpec } from "../routes/spec.ts";
import { EVENT_BODY, postedEvent } from "./body.ts";

export const CHANNEL_EVENTS: RouteSpec = {
  method: "POST",
  path: "/api/channel-events",
  access: "local",
  summary: "Tells people and procedures of an event, or asks people for an approval.",
  details:
    "They need no token; a request from elsewhere, or one that a proxy has passed on, is refused. The type human_approval_request needs run_id and step_id, and waits for an answer of a person; the same request again asks nobody twice. Fields that are not named here are kept for procedures.",
  body: EVENT_BODY,
  answers: {
    200: {
      description: "It is told, and on its way to its channels.",
      body: v.object({
        ok: v.literal(true),
        event_id: v.pipe(v.string(), v.description("Id of the event that subscribers are told.")),
        skipped: v.pipe(
          v.array(v.string()),
          v.description(
            "Its channels that are not configured, have no notification_target, or have 1000 messages waiting already.",
          ),
        ),
      }),
    },
  },
  errors: ["APPROVAL_EXISTS", "BUSY", "STORE_FULL", "STORE_FAILED"],
};

export interface ChannelEventsRouteDeps {
  readonly channelEvents: ChannelEvents;
  readonly rules: Pick<HostRules, "allowsOrigin">;
  readonly log: Logger;
}

export class ChannelEventsRoute {
  readonly #deps: ChannelEventsRouteDeps;

  constructor(deps: ChannelEventsRouteDeps) {
    this.#deps = deps;
  }

  /** What is decided before the body: who may call at all, and the content type. */
  refuse(headers: IncomingHttpHeaders, peer: Peer): Reply | undefined {
    if (!isLocalOnly({ peerAddress: peer.address, headers }, this.#deps.rules)) return errorReply("NOT_LOCAL");
    return refuseContentType(headers);
  }

  /** Never rejects. */
  async accept(body: Buffer): Promise<Reply> {
    const { channelEvents, log } = this.#deps;
    const event = postedEvent(body);
    if (event instanceof Reply) return event;
    try {
      const { eventId, skipped } = await channelEvents.post(event);
      return jsonReply(200, { ok: true, event_id: eventId, skipped: [...skipped] });
    } catch (error) {
      const reply = replyToError(error);
      if (reply.status >= 500) {
        log.error("a channel event was not taken", { cause: error instanceof Error ? error.message : "unknown" });
      }
      return reply;
    }
  }
}
