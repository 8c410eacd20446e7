/** `users.watch`: the platform publishes changes to the topic for seven days; calling it again extends that. */
import { type Clock, type Json, type StateStore, SvcError } from "@svc/contract";
import { type PlatformAnswer, Semaphore } from "@svc/kit";
import * as v from "valibot";
import { historyIdSchema, type MailApi, refusalOf } from "./api.ts";
import { forgetOthers, jsonOf, keepPlace, type OwnAddress, readPlace } from "./mailbox.ts";

export interface Watch {
  /** Watches when it is due. Resolves with when it is due again, milliseconds since the epoch. */
  keep(signal: AbortSignal): Promise<number>;
  /** When it ends; undefined: it is missing. */
  endsAtMs(): Promise<number | undefined>;
  /** Watches now, due or not. */
  renew(signal: AbortSignal): Promise<Watched>;
}

export interface Watched {
  /** Where the history was at that moment. */
  readonly historyId: string;
  readonly endsAtMs: number;
}

export interface WatchOptions {
  readonly api: MailApi;
  readonly address: Pick<OwnAddress, "confirmed">;
  readonly labels: Labels;
  readonly topic: string;
  readonly state: StateStore;
  readonly clock: Clock;
}

const DAY_MS = 86_400_000;
const BEFORE_END_MS = 3_600_000;
/** However soon it ends, it is not asked for all the time. */
const MIN_MS = 60_000;
const KEY = "watch";

const storedWatch = v.object({ request: v.string(), atMs: v.number(), endsAtMs: v.number() });
const answer = v.object({
  historyId: historyIdSchema,
  expiration: v.fallback(v.pipe(v.union([v.string(), v.number()]), v.transform(Number), v.safeInteger()), 0),
});

export function createWatch({ api, address, labels, topic, state, clock }: WatchOptions): Watch {
  const last = async (): Promise<v.InferOutput<typeof storedWatch> | undefined> => {
    const parsed = v.safeParse(storedWatch, jsonOf(await state.get(KEY)));
    return parsed.success ? parsed.output : undefined;
  };

  const requestOf = async (signal: AbortSignal): Promise<Json> => {
    const labelIds = await labels.ids(signal);
    return { topicName: topic, ...(labelIds.length > 0 && { labelIds, labelFilterBehavior: "INCLUDE" }) };
  };

  async function ask(request: Json, signal: AbortSignal): Promise<Watched> {
    const said = await api.call({ path: "watch", json: request, answers: [400, 403, 404] }, signal);
    if (said.status !== 200) throw refused(said, clock.now());
    const parsed = v.safeParse(answer, said.json);
    if (!parsed.success) throw new SvcError("REMOTE_UNREACHABLE", "The answer to a watch is none.");
    const { historyId, expiration } = parsed.output;
    const endsAtMs = expiration > 0 ? expiration : clock.now() + DAY_MS;
    // Only the first time: later ones would leave out the mail that came since the last push was worked off.
    if ((await readPlace(state)) === undefined) await keepPlace(state, { historyId, newestMs: clock.now() });
    await state.set(KEY, JSON.stringify({ request: JSON.stringify(request), atMs: clock.now(), endsAtMs }));
    return { historyId, endsAtMs };
  }

  /** One after the other: of two first watches the later one must not decide where reading begins. */
  const lock = new Semaphore(1);

  const keep = async (signal: AbortSignal): Promise<number> => {
    if (await forgetOthers(state, await address.confirmed(signal))) await state.delete(KEY);
    const request = await requestOf(signal);
    const before = await last();
    const now = clock.now();
    const isSame = before?.request === JSON.stringify(request) && (await readPlace(state)) !== undefined;
    if (before !== undefined && isSame && before.atMs <= now && now < dueAt(before)) return dueAt(before);
    const { endsAtMs } = await ask(request, signal);
    return dueAt({ atMs: now, endsAtMs });
  };

  return {
    keep: (signal) => lock.run(() => keep(signal), signal),
    endsAtMs: async () => (await last())?.endsAtMs,
    renew: (signal) => lock.run(async () => ask(await requestOf(signal), signal), signal),
  };
}

const dueAt = ({ atMs, endsAtMs }: { readonly atMs: number; readonly endsAtMs: number }): number =>
  Math.max(atMs + MIN_MS, Math.min(atMs + DAY_MS, endsAtMs - BEFORE_END_MS));

/** Nearly always the topic's permissions; credentials that are wrong were refused before. */
function refused(said: PlatformAnswer, nowMs: number): SvcError {
  const refusal = refusalOf(said, nowMs);
  if (said.status === 403 && refusal.code === "DELIVERY_FAILED") return refusal;
  return new SvcError("CHANNEL_CANNOT", "The platform refuses to tell the topic of new mail.", {
    hint:
      "Check `topic` and that the token has the scope gmail.modify, and grant " +
      "gmail-api-push@system.gserviceaccount.com the role Pub/Sub Publisher on the topic.",
  });
}

/**
 * Labels of the config as the ids that the platform takes. People know names; only the built-in ones are their own ids.
 */
export interface Labels {
  /** Throws CHANNEL_CANNOT for one that the mailbox does not have. */
  ids(signal: AbortSignal): Promise<readonly string[]>;
}

const BUILT_IN =
  /^(?:INBOX|STARRED|UNREAD|IMPORTANT|SENT|DRAFT|SPAM|TRASH|CHAT|CATEGORY_(?:PERSONAL|SOCIAL|PROMOTIONS|UPDATES|FORUMS))$/;

const list = v.object({ labels: v.fallback(v.array(v.object({ id: v.string(), name: v.string() })), []) });

export function createLabels(api: MailApi, wanted: readonly string[]): Labels {
  let known: readonly string[] | undefined = wanted.every((label) => BUILT_IN.test(label)) ? wanted : undefined;
  return {
    async ids(signal) {
      if (known !== undefined) return known;
      const { json } = await api.call({ path: "labels" }, signal);
      const answer = v.safeParse(list, json);
      const labels = answer.success ? answer.output.labels : [];
      return (known = wanted.map((label) => {
        const isIt = ({ id, name }: { id: string; name: string }) => id === label || name === label;
        const found = BUILT_IN.test(label) ? label : labels.find(isIt)?.id;
        if (found !== undefined) return found;
        throw new SvcError("CHANNEL_CANNOT", "The mailbox has no label of a name that label_filter asks for.", {
          hint: "Write labels as the mailbox shows them, with the labels above: Parent/Child.",
        });
      }));
    },
  };
}
