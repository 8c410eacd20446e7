/** Whose mailbox it is. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import type { MailApi } from "../api/mail-api.ts";

export interface Profile {
  readonly address: string;
  /** Where its history is now. */
  readonly historyId: string;
}

const answer = v.object({
  emailAddress: v.pipe(v.string(), v.regex(/^[^\s@<>"]{1,64}@[^\s@<>"]{1,255}$/)),
  historyId: v.pipe(v.string(), v.regex(/^\d{1,20}$/)),
});

export async function readProfile(api: MailApi, signal: AbortSignal): Promise<Profile> {
  const { json } = await api.call({ path: "profile" }, signal);
  const parsed = v.safeParse(answer, json);
  if (parsed.success) return { address: parsed.output.emailAddress, historyId: parsed.output.historyId };
  throw new SvcError("REMOTE_UNREACHABLE", "What answers at api_url is no mailbox.");
}

/** The address of the mailbox, asked for once. */
export function ownAddress(api: MailApi): (signal: AbortSignal) => Promise<string> {
  let known: string | undefined;
  return async (signal) => (known ??= (await readProfile(api, signal)).address);
}
