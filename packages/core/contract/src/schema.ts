/** Schema pieces for config sections. Pure valibot; what they mark is read back by the one schema walk of `@svc/config`. */
import * as v from "valibot";

/** What a key of the config holds: for its checks and for the forms that show it. */
export type NodeType =
  | "string"
  | "integer"
  | "number"
  | "boolean"
  | "choice"
  | "list"
  | "object"
  | "record"
  | "union"
  | "any";

/** Marks on a schema, kept as valibot metadata. */
export interface Marks {
  /** The value is a secret: shown as dots, encrypted at rest, redacted from logs. */
  readonly secret?: true;
  /** A secret that is ours to choose and the other side's to be told: `svc init` makes one. */
  readonly generate?: true;
  /** Not demanded, but `svc init` asks for it: without it the feature works less well, or not in every mode. */
  readonly ask?: true;
  /** Only compared: its hash takes its place once the config is read, and the text is kept nowhere. */
  readonly hashed?: true;
  /** A secret that can't be revoked: the start warns where it stands in plain text because `secrets.encrypt` is off. */
  readonly highValue?: true;
  /** Environment variable that supplies the value. */
  readonly env?: string;
  /** `override`: the variable beats the file. `fallback`: it counts only when the file is silent. */
  readonly envMode?: "override" | "fallback";
  /** A change is in force only after a restart; a reload says so. */
  readonly restart?: true;
}

/** A secret string. A blank one counts as unset and is refused where the key is required. */
export const secret = (
  options: {
    env?: string;
    envMode?: "override" | "fallback";
    generate?: true;
    ask?: true;
    hashed?: true;
    highValue?: true;
  } = {},
) =>
  v.pipe(
    v.string(),
    v.metadata({
      secret: true,
      ...(options.generate && { generate: true }),
      ...(options.ask && { ask: true }),
      ...(options.hashed && { hashed: true }),
      ...(options.highValue && { highValue: true }),
      ...(options.env && { env: options.env, envMode: options.envMode ?? "override" }),
    } satisfies Marks),
  );

/** A secret that Standard Webhooks signatures are made with: `whsec_` and base64, or any other text. */
export const webhookKey = () => v.pipe(secret(), v.check(isWebhookKey, "what follows whsec_ must be base64"));

/** Whether all of what follows `whsec_` is base64: a mistyped key, read as far as it goes, would be a shorter, other one. */
export function isWebhookKey(text: string): boolean {
  const encoded = /^whsec_(.*)$/s.exec(text.trim())?.[1];
  if (encoded === undefined) return true;
  const digits = trimEndOf(encoded, "=");
  try {
    return digits !== "" && trimEndOf(btoa(atob(digits)), "=") === digits;
  } catch {
    return false;
  }
}

/** An absolute http(s) URL without credentials in it. */
export const httpUrl = () =>
  v.pipe(v.string(), v.check(isHttpUrl, "an http:// or https:// URL without a user name or password"));

/** A whole number of at least `min` and at most `max`. */
export const integer = (min: number, max: number = Number.MAX_SAFE_INTEGER) =>
  v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));

function isHttpUrl(text: string): boolean {
  // The parser drops them silently: the address shown would differ from the address used.
  if (/[\s\p{Cc}]/u.test(text.trim()) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return (url.protocol === "http:" || url.protocol === "https:") && url.username === "" && url.password === "";
}

/** The keys that every section of a channel has, beside its own. */
export const channelKeys = {
  agent: v.optional(v.pipe(v.string(), v.description("Name of the agent that answers. Default: the default agent."))),
  approvers: v.optional(
    v.pipe(
      v.array(
        v.pipe(
          v.string(),
          v.check((who) => who.trim() !== "" && who.trim() !== "*", "an account; * would let everyone approve"),
        ),
      ),
      v.description(
        "Accounts that may answer approval requests in this channel, written as in its allowlist. Default: none.",
      ),
    ),
    [],
  ),
  notification_target: v.optional(
    v.pipe(v.string(), v.description("Chat, room or address for notifications and approval requests.")),
  ),
  allowed_targets: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.trim(), v.nonEmpty())),
      v.description(
        "Chats, rooms or addresses that the agent may write to with channel_send; * is any. People who wrote to the agent, and notification_target, need not be listed.",
      ),
    ),
    [],
  ),
} as const;

/** The keys of a channel whose answers are seen being written (`Channel.drafts`). */
export const streamKeys = (standardMs: number) =>
  ({
    stream_mode: v.optional(
      v.pipe(
        v.picklist(["off", "partial", "multi_message"]),
        v.description(
          "partial: send the beginning of an answer and edit it as it grows. multi_message: send each paragraph once it is complete.",
        ),
      ),
      "partial",
    ),
    draft_update_interval_ms: v.optional(
      v.pipe(integer(100, 600_000), v.description("Least milliseconds between two edits of an answer.")),
      standardMs,
    ),
  }) as const;

/** The key of a channel that marks a message with a reaction while it is answered (`Channel.readMarks`). */
export const ackReaction = (standard: string) =>
  v.optional(
    v.pipe(v.string(), v.description("Reaction that marks a message while it is being answered; blank: none.")),
    standard,
  );

/** Who may write to the agent there. Empty or missing: no sender, and the log names each refused sender once. */
export const allowlist = (of: string) =>
  v.optional(v.pipe(v.array(v.string()), v.description(`${of} that may write to the agent; * lets everyone.`)), []);

/** Base URL of the platform's API, without a slash at the end. */
export const apiUrl = (standard: string) =>
  v.optional(
    v.pipe(
      httpUrl(),
      v.description("Base URL of the platform's API. Change it for a proxy or a test."),
      v.transform((url) => trimEndOf(url, "/")),
    ),
    standard,
  );

// A text without certain characters at its ends. As a regular expression, `/[ \t]+$/` looks for the end of the text from each of them
// inside it: of 16 000 blanks in a header that is 128 million steps.

/** `characters`: each of them, in any order; of one UTF-16 unit each. */
export function trimOf(text: string, characters: string): string {
  let start = 0;
  while (start < text.length && characters.includes(text.charAt(start))) start += 1;
  return trimEndOf(text.slice(start), characters);
}

export function trimEndOf(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
