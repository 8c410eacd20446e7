/** The body of `POST /api/channel-events`, checked field by field. */
import { parseJson } from "@svc/kit";
import type { PostedEvent } from "@svc/sop";
import * as v from "valibot";
import { errorReply, Reply } from "../http/reply.ts";

/** A text that fits a pattern. What it has to be stands in the description, and completes "… must be". */
const text = (pattern: RegExp, what: string) => v.pipe(v.string(what), v.regex(pattern, what), v.description(what));

/** What a database and a platform hand back as they got it: no half of a surrogate pair, no NUL. */
const words = (most: number) =>
  text(new RegExp(`^[^\\p{Cs}\\0]{0,${most}}$`, "u"), `at most ${most} characters of text`);

/** Ends up in the path of `/api/approvals`, where `.` and `..` would lead elsewhere. */
const id = () => text(/^(?!\.{1,2}$)[^\p{C}\p{Z}]{1,256}$/u, "1 to 256 visible characters");

const KEYWORD = text(/^(?=.*\S)[^\p{C}]{1,64}$/u, "1 to 64 printable characters, not all of them blank");

const listOf = <Item extends v.GenericSchema<string>>(item: Item, most: number) => {
  const what = `a list of at most ${most} texts`;
  return v.pipe(v.array(item, what), v.maxLength(most, what));
};

const OBJECT = "an object";

export const APPROVAL_REQUEST = "human_approval_request";

export const EVENT_BODY = v.object(
  {
    type: text(/^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u, "1 to 128 printable characters, not all of them blank"),
    content: v.optional(v.object({ title: v.optional(words(256)), message: v.optional(words(16_384)) }, OBJECT)),
    channels: v.optional(
      v.pipe(
        listOf(text(/^[^\p{C}]{1,64}$/u, "1 to 64 printable characters"), 32),
        v.description("Where it goes beside the subscribers: channels of the config, and dashboard; each once."),
      ),
      [],
    ),
    run_id: v.optional(id()),
    step_id: v.optional(id()),
    approve_keywords: v.optional(listOf(KEYWORD, 32)),
    reject_keywords: v.optional(listOf(KEYWORD, 32)),
  },
  OBJECT,
);

/** The event, or 400: BAD_JSON for what is no UTF-8 JSON, else BAD_REQUEST that names the field and never its value. */
export function postedEvent(body: Buffer): PostedEvent | Reply {
  const value = parseJson(body);
  if (value === undefined) return errorReply("BAD_JSON");
  // To valibot a list is an object too.
  if (Array.isArray(value)) return refused(`The body must be ${OBJECT}.`);
  const parsed = v.safeParse(EVENT_BODY, value, { abortEarly: true });
  if (!parsed.success) return refused(sentenceOf(parsed.issues[0]));
  const { type, content, channels, run_id, step_id, approve_keywords, reject_keywords } = parsed.output;
  if (Array.isArray((value as { content?: unknown }).content)) return refused(`content must be ${OBJECT}.`);
  if (new Set(channels).size < channels.length) return refused("channels must be a list without anything in it twice.");
  if (type === APPROVAL_REQUEST && run_id === undefined) return refused(missing("run_id"));
  if (type === APPROVAL_REQUEST && step_id === undefined) return refused(missing("step_id"));
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

/** The path of an issue is made of the schema's own keys and of positions: nothing of it was sent. */
function sentenceOf(issue: v.BaseIssue<unknown>): string {
  const field = v.getDotPath(issue) ?? "The body";
  return issue.input === undefined ? `${field} is missing.` : `${field} must be ${issue.message}.`;
}

const missing = (field: string): string => `${field} is missing: an approval request has run_id and step_id.`;

const refused = (message: string): Reply => errorReply("BAD_REQUEST", { message });
