/** `POST /api/channel-events`: what programs on this machine tell people and procedures. */
import type { Json, Logger } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { ChannelEvents, PostedEvent } from "@svc/sop";
import * as v from "valibot";
import { errorReply, jsonReply, Reply, replyToError } from "../http/reply.ts";
import type { Exchange } from "../middleware/pipeline.ts";
import type { RouteSpec } from "./route.ts";

/** A text that fits a pattern. The description completes "… must be". */
const text = (pattern: RegExp, what: string) => v.pipe(v.string(what), v.regex(pattern, what), v.description(what));

/** Text that databases and platforms return unchanged: no lone surrogate, no NUL. */
const words = (most: number) =>
  text(new RegExp(`^[^\\p{Cs}\\0]{0,${most}}$`, "u"), `at most ${most} characters of text`);

/** Ends up in the path of `/api/approvals`, where `.` and `..` would lead elsewhere. */
const id = () => text(/^(?!\.{1,2}$)[^\p{C}\p{Z}]{1,256}$/u, "1 to 256 visible characters");

const KEYWORD = text(/^(?=.*\S)[^\p{C}]{1,64}$/u, "1 to 64 printable characters, not all of them blank");

const MOST_TEXTS = 32;
const LIST = `a list of at most ${MOST_TEXTS} texts`;
const LISTS = ["channels", "approve_keywords", "reject_keywords"] as const;

const listOf = <Item extends v.GenericSchema<string>>(item: Item) =>
  v.pipe(v.array(item, LIST), v.maxLength(MOST_TEXTS, LIST));

const OBJECT = "an object";

const APPROVAL_REQUEST = "human_approval_request";

const EVENT_BODY = v.object(
  {
    type: text(/^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u, "1 to 128 printable characters, not all of them blank"),
    content: v.optional(v.object({ title: v.optional(words(256)), message: v.optional(words(16_384)) }, OBJECT)),
    channels: v.optional(
      v.pipe(
        listOf(text(/^[^\p{C}]{1,64}$/u, "1 to 64 printable characters")),
        v.description("Where it goes beside the subscribers: channels of the config, and dashboard; each once."),
      ),
      [],
    ),
    run_id: v.optional(id()),
    step_id: v.optional(id()),
    approve_keywords: v.optional(listOf(KEYWORD)),
    reject_keywords: v.optional(listOf(KEYWORD)),
  },
  OBJECT,
);

/** The event, or 400: BAD_JSON unless it is UTF-8 JSON, else BAD_REQUEST, which names the field and never its value. */
export function postedEvent(body: Buffer): PostedEvent | Reply {
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  const shape = faultOfShape(value);
  if (shape !== undefined) return refused(shape);
  const parsed = v.safeParse(EVENT_BODY, value, { abortEarly: true });
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
  const tooLong = LISTS.find((field) => isTooLong(fields[field]));
  return tooLong === undefined ? undefined : `${tooLong} must be ${LIST}.`;
}

function faultOfFields({ type, channels, run_id, step_id }: v.InferOutput<typeof EVENT_BODY>): string | undefined {
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

export const CHANNEL_EVENTS: RouteSpec = {
  method: "POST",
  path: "/api/channel-events",
  access: "local",
  summary: "Tells people and procedures of an event, or asks people for an approval.",
  details:
    "They need no token; a request from elsewhere, or one that a proxy has passed on, is refused. The type human_approval_request needs run_id and step_id, and waits for a person's answer; a repeated request sends no second question. Fields that are not named here are kept for procedures.",
  body: EVENT_BODY,
  answers: {
    200: {
      description: "The event is published and queued for its channels.",
      body: v.object({
        ok: v.literal(true),
        event_id: v.pipe(v.string(), v.description("Id of the event for subscribers.")),
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
      return jsonReply(200, { ok: true, event_id: eventId, skipped: [...skipped] });
    } catch (error) {
      const reply = replyToError(error);
      if (reply.status >= 500) {
        log.error("a channel event was not taken", { cause: error instanceof Error ? error.message : "unknown" });
      }
      return reply;
    }
  };
}
