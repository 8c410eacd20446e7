/** Whose mailbox it is. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { historyIdSchema } from "../api/history-id.ts";
import type { MailApi } from "../api/mail-api.ts";

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
  told(signal: AbortSignal): Promise<string | undefined>;
  /** As the platform says, else as heard. */
  get(signal: AbortSignal): Promise<string | undefined>;
  /** As a push calls the mailbox; counts where the platform does not say. */
  heard(address: string): void;
}

export function ownAddress(api: MailApi): OwnAddress {
  let known: Promise<string | undefined> | undefined;
  let heard: string | undefined;
  const told = (signal: AbortSignal): Promise<string | undefined> => {
    known ??= readProfile(api, signal).then((profile) => profile?.address);
    return known.catch((error: unknown) => {
      known = undefined;
      throw error;
    });
  };
  return {
    told,
    get: async (signal) => (await told(signal)) ?? heard,
    heard(address) {
      heard = address;
    },
  };
}
