/** Threads: which of them hold mails of the channel, and what is stored so that an answer lands in its thread. */
import type { Json, StateStore } from "@svc/contract";
import { parseJson } from "@svc/kit";
import { type Headers, mailboxOf, messageIdsIn, type ThreadPlace, threadPlaceOf } from "@svc/kit/mail";
import * as v from "valibot";

/**
 * The threads that our own mails are in. Some mail programs name only the mail that they answer (In-Reply-To) and not where the
 * thread began: when that is one of ours, this tells.
 */
export interface KnownThreads {
  /** Message-ID that the thread of this mail began with: the mail's own, where nothing is known. */
  rootOf(messageId: string): Promise<string>;
  /** Whether it is one of our latest mails within threads. */
  has(messageId: string): Promise<boolean>;
  /** A mail of ours is in the thread that began with `root`. Resolves once it is on disk. */
  add(messageId: string, root: string): Promise<void>;
}

/** Who answers a mail that was sent so many mails ago begins a thread anew. */
const MOST = 500;
/** One text for all of them: there are few, and short. */
const NAME = "threads";
const list = v.array(v.tuple([v.string(), v.string()]));

export function knownThreadsIn(state: StateStore): KnownThreads {
  let loading: Promise<Map<string, string>> | undefined;
  const load = (): Promise<Map<string, string>> =>
    (loading ??= state.get(NAME).then(
      (text) => new Map(v.parse(v.fallback(list, []), text === undefined ? [] : parseJson(Buffer.from(text)))),
      (error: unknown) => {
        // What could not be read now may be read by the next try.
        loading = undefined;
        throw error;
      },
    ));
  return {
    rootOf: async (messageId) => (await load()).get(messageId) ?? messageId,
    has: async (messageId) => (await load()).has(messageId),
    async add(messageId, root) {
      if (messageId === root) return;
      const known = await load();
      known.delete(messageId);
      known.set(messageId, root);
      if (known.size > MOST) known.delete(known.keys().next().value as string);
      await state.set(NAME, JSON.stringify([...known]));
    },
  };
}

/** Stored with a mail so that its answer lands in its thread, in every mail program. */
export interface Answered extends ThreadPlace {
  /** Where the answer goes, if not to who wrote. */
  readonly to: string | undefined;
}

const storedReply = v.object({
  messageId: v.optional(v.string()),
  references: v.array(v.string()),
  subject: v.string(),
  to: v.optional(v.string()),
});

export function replyDataOf(headers: Headers, to: string | undefined): Json {
  const { messageId, references, subject } = threadPlaceOf(headers);
  return {
    ...(messageId !== undefined && { messageId }),
    references: [...references],
    subject,
    ...(to !== undefined && { to }),
  };
}

/** Undefined for the data of another kind. */
export function keptReply(data: Json | undefined): Answered | undefined {
  const parsed = v.safeParse(storedReply, data);
  if (!parsed.success) return undefined;
  const { messageId = "", references, subject, to } = parsed.output;
  return {
    // Looked at once more: they become headers, and this comes from the disk.
    messageId: messageIdsIn(messageId)[0],
    references: messageIdsIn(references.join(" ")),
    subject,
    to: to === undefined ? undefined : mailboxOf(to),
  };
}
