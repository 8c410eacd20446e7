/** Who we are there: the lines that the token answers for. */
import { asCheckFailure } from "@svc/kit";
import * as v from "valibot";
import type { Api } from "./api.ts";

/** One line for a person. Throws as `Channel.check`. */
export async function accountLine(api: Api, tenantId: string | undefined, signal: AbortSignal): Promise<string> {
  // A token may be allowed to send and not to list: then it is known all the same.
  const answer = await api("/channels?page_number=1&page_size=100", { answers: [403], signal }).catch(asCheckFailure);
  if (answer.status === 403) return "The platform takes the token; it may not list the account's lines.";
  const { success, output } = v.safeParse(LINES, answer.json);
  if (!success) return "The platform takes the token; its list of lines can't be read.";
  const lines = output.channels.map(({ name, channel }) => [name, channel].filter(Boolean).join(" "));
  const isKnown = output.channels.some(({ name, channel }) => tenantId === name || tenantId === channel);
  if (tenantId !== undefined && !isKnown) return `tenant_id does not match a line of the account: ${lines.join(", ")}`;
  return `${lines.length === 1 ? "Line" : "Lines"}: ${lines.join(", ")}`;
}

const NAME = v.fallback(v.optional(v.string()), undefined);
const LINES = v.object({ channels: v.array(v.object({ name: NAME, channel: NAME })) });
