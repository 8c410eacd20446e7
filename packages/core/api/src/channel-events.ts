/** `POST /api/channel-events`: events of programs on this machine. */
import * as v from "valibot";
import type { Output } from "./schema.ts";

/** A text that fits a pattern. The description completes "… must be". */
const text = (pattern: RegExp, what: string) => v.pipe(v.string(what), v.regex(pattern, what), v.description(what));

/** Text that databases and platforms return unchanged: no lone surrogate, no NUL. */
const words = (most: number) =>
  text(new RegExp(`^[^\\p{Cs}\\0]{0,${most}}$`, "u"), `at most ${most} characters of text`);

/** Ends up in the path of `/api/approvals`, where `.` and `..` would lead elsewhere. */
const id = () => text(/^(?!\.{1,2}$)[^\p{C}\p{Z}]{1,256}$/u, "1 to 256 visible characters");

const KEYWORD = text(/^(?=.*\S)[^\p{C}]{1,64}$/u, "1 to 64 printable characters, not all of them blank");

export const MOST_TEXTS = 32;
export const TEXT_LIST = `a list of at most ${MOST_TEXTS} texts`;
export const TEXT_LISTS = ["channels", "approve_keywords", "reject_keywords"] as const;

const listOf = <Item extends v.GenericSchema<string>>(item: Item) =>
  v.pipe(v.array(item, TEXT_LIST), v.maxLength(MOST_TEXTS, TEXT_LIST));

export const OBJECT = "an object";

export const ChannelEvent = v.object(
  {
    type: text(/^(?=.*\S)[^\p{C}\p{Zl}\p{Zp}]{1,128}$/u, "1 to 128 printable characters, not all of them blank"),
    content: v.exactOptional(
      v.object({ title: v.exactOptional(words(256)), message: v.exactOptional(words(16_384)) }, OBJECT),
    ),
    channels: v.optional(
      v.pipe(
        listOf(text(/^[^\p{C}]{1,64}$/u, "1 to 64 printable characters")),
        v.description("Where it goes beside the subscribers: channels of the config, and dashboard; each once."),
      ),
      [],
    ),
    run_id: v.exactOptional(id()),
    step_id: v.exactOptional(id()),
    approve_keywords: v.exactOptional(listOf(KEYWORD)),
    reject_keywords: v.exactOptional(listOf(KEYWORD)),
  },
  OBJECT,
);
export type ChannelEvent = Output<typeof ChannelEvent>;

export const ChannelEventPosted = v.object({
  ok: v.literal(true),
  event_id: v.pipe(v.string(), v.description("Id of the event for subscribers.")),
  skipped: v.pipe(
    v.array(v.string()),
    v.description(
      "Its channels that are not configured, have no notification_target, or have 1000 messages waiting already.",
    ),
  ),
});
export type ChannelEventPosted = Output<typeof ChannelEventPosted>;
