/** Whose mailbox it is, and how far it has been read. */
import { type StateStore, SvcError } from "@svc/contract";
import * as v from "valibot";
import { historyIdSchema, type MailApi } from "./api.ts";

/** Whose mailbox it is. */
export interface Profile {
  readonly address: string;
  /** Where its history is now. */
  readonly historyId: string;
}

const answer = v.object({
  emailAddress: v.pipe(v.string(), v.regex(/^[^\s@<>"]{1,64}@[^\s@<>"]{1,255}$/)),
  historyId: historyIdSchema,
});

/** Undefined: what stands in for the platform does not say. */
export async function readProfile(api: MailApi, signal: AbortSignal): Promise<Profile | undefined> {
  const { status, json } = await api.call({ path: "profile", answers: [404] }, signal);
  if (status === 404) return undefined;
  const parsed = v.safeParse(answer, json);
  if (parsed.success) return { address: parsed.output.emailAddress, historyId: parsed.output.historyId };
  throw new SvcError("REMOTE_UNREACHABLE", "What answers at api_url is no mailbox.");
}

export interface OwnAddress {
  /** As the platform says; asked for once. */
  confirmed(signal: AbortSignal): Promise<string | undefined>;
  /** As the platform says, else as heard. */
  get(signal: AbortSignal): Promise<string | undefined>;
  /** As a push calls the mailbox; counts where the platform does not say. */
  heard(address: string): void;
}

export function ownAddress(api: MailApi): OwnAddress {
  let known: Promise<string | undefined> | undefined;
  let heard: string | undefined;
  const confirmed = (signal: AbortSignal): Promise<string | undefined> => {
    known ??= readProfile(api, signal).then((profile) => profile?.address);
    return known.catch((error: unknown) => {
      known = undefined;
      throw error;
    });
  };
  return {
    confirmed,
    get: async (signal) => (await confirmed(signal)) ?? heard,
    heard(address) {
      heard = address;
    },
  };
}

/** How far the mailbox has been read; kept over restarts. */
export interface Place {
  /** Everything up to this history id was read. */
  readonly historyId: string;
  /** When the newest mail that was read, or the mailbox's first watch, came. Milliseconds since the epoch. */
  readonly newestMs: number;
}

const KEY = "place";
const place = v.object({ historyId: historyIdSchema, newestMs: v.number() });

/** Undefined before the first watch. */
export async function readPlace(state: StateStore): Promise<Place | undefined> {
  const parsed = v.safeParse(place, jsonOf(await state.get(KEY)));
  return parsed.success ? parsed.output : undefined;
}

export async function keepPlace(state: StateStore, { historyId, newestMs }: Place): Promise<void> {
  await state.set(KEY, JSON.stringify({ historyId, newestMs }));
}

const OWNER = "owner";

/** A place in one mailbox means nothing in another. Resolves with whether there was one of another mailbox. */
export async function forgetOthers(state: StateStore, address: string | undefined): Promise<boolean> {
  const owner = await state.get(OWNER);
  if (address === undefined || owner === address) return false;
  if (owner !== undefined) await state.delete(KEY);
  await state.set(OWNER, address);
  return owner !== undefined;
}

export function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
