/** `POST /api/channel-events`: what programs on this machine tell people and procedures. */
import { ChannelEvent, ChannelEventPosted, MOST_TEXTS, OBJECT, TEXT_LIST, TEXT_LISTS } from "@svc/api";
import type { Json, Logger } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { ChannelEvents, PostedEvent } from "@svc/sop";
import * as v from "valibot";
import { errorReply, Reply, replyToError } from "../http/reply.ts";
import type { Exchange } from "../pipeline.ts";
import { respond, type RouteSpec } from "./route.ts";

const APPROVAL_REQUEST = "human_approval_request";

/** The event, or 400: BAD_JSON unless it is UTF-8 JSON, else BAD_REQUEST, which names the field and never its value. */
export function postedEvent(body: Buffer): PostedEvent | Reply {
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  const shape = faultOfShape(value);
  if (shape !== undefined) return refused(shape);
  const parsed = v.safeParse(ChannelEvent, value, { abortEarly: true });
  if (!parsed.success) return refused(sentenceOf(parsed.issues[0]));
  const { type, content, channels, run_id, step_id, approve_keywords, reject_keywords } = parsed.output;
  const fault = faultOfFields(parsed.output);
  if (fault !== undefined) return refused(fault);
  return {
    type,
    title: content?.title,
    message: content?.message,
    channels,
    runId: run_id,
    stepId: step_id,
    approveKeywords: approve_keywords,
    rejectKeywords: reject_keywords,
    json: body.toString("utf8"),
  };
}

/** What the schema would not see, or too late: to valibot a list is an object, and each text of a list is read before it is counted. */
function faultOfShape(value: Json): string | undefined {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return `The body must be ${OBJECT}.`;
  const fields = value as { readonly [name: string]: Json };
  if (Array.isArray(fields["content"])) return `content must be ${OBJECT}.`;
  const tooLong = TEXT_LISTS.find((field) => isTooLong(fields[field]));
  return tooLong === undefined ? undefined : `${tooLong} must be ${TEXT_LIST}.`;
}

function faultOfFields({ type, channels, run_id, step_id }: ChannelEvent): string | undefined {
  if (new Set(channels).size < channels.length) return "channels must be a list without anything in it twice.";
  if (type !== APPROVAL_REQUEST) return undefined;
  const missing = run_id === undefined ? "run_id" : step_id === undefined ? "step_id" : undefined;
  return missing && `${missing} is missing: an approval request has run_id and step_id.`;
}

const isTooLong = (value: Json | undefined): boolean => Array.isArray(value) && value.length > MOST_TEXTS;

/** The path of an issue is made of the schema's own keys and of positions: nothing of it was sent. */
function sentenceOf(issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue);
  return issue.input === undefined ? `${field} is missing.` : `${field} must be ${issue.message}.`;
}

const refused = (message: string): Reply => errorReply("BAD_REQUEST", { message });

export const CHANNEL_EVENTS = {
  method: "POST",
  path: "/api/channel-events",
  access: "local",
  summary: "Tells people and procedures of an event, or asks people for an approval.",
  details:
    "They need no token; a request from elsewhere, or one that a proxy has passed on, is refused. The type human_approval_request needs run_id and step_id, and waits for a person's answer; a repeated request sends no second question. Fields that are not named here are kept for procedures.",
  body: ChannelEvent,
  answers: {
    200: {
      description: "The event is published and queued for its channels.",
      body: ChannelEventPosted,
    },
  },
  errors: ["APPROVAL_EXISTS", "BUSY", "STORE_FULL", "STORE_FAILED"],
} satisfies RouteSpec;

export interface ChannelEventsRouteDeps {
  readonly channelEvents: ChannelEvents;
  readonly log: Logger;
}

export class ChannelEventsRoute {
  readonly #deps: ChannelEventsRouteDeps;

  constructor(deps: ChannelEventsRouteDeps) {
    this.#deps = deps;
  }

  /** Never rejects. */
  readonly answer = async ({ body }: Exchange): Promise<Reply> => {
    const { channelEvents, log } = this.#deps;
    const event = postedEvent(body);
    if (event instanceof Reply) return event;
    try {
      const { eventId, skipped } = await channelEvents.post(event);
      return respond(CHANNEL_EVENTS, 200, { ok: true, event_id: eventId, skipped });
    } catch (error) {
      const reply = replyToError(error);
      if (reply.status >= 500) {
        log.error("a channel event was not taken", { cause: error instanceof Error ? error.message : "unknown" });
      }
      return reply;
    }
  };
}
