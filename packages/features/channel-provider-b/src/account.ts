/** Who we are there: the lines that the token may send from. */
import { asCheckFailure } from "@svc/kit";
import * as v from "valibot";
import type { Api } from "./api.ts";
import { normalised } from "./handle.ts";

/** One line for a person. Throws as `Channel.check`. */
export async function accountLine(api: Api, fromPhone: string, signal: AbortSignal): Promise<string> {
  const { json } = await api("/phone_numbers", { method: "GET", signal }).catch(asCheckFailure);
  const { success, output } = v.safeParse(LINES, json);
  if (!success) return "The platform takes the token; its list of lines can't be read.";
  const lines = output.phone_numbers.map(({ phone_number: number }) => normalised(number));
  const count = lines.length === 1 ? "the account's line" : `one of the account's ${lines.length} lines`;
  return lines.includes(fromPhone)
    ? `${fromPhone}, ${count}`
    : `from_phone is not one of the account's ${lines.length} lines: svc can't start new chats.`;
}

const LINES = v.object({ phone_numbers: v.array(v.object({ phone_number: v.string() })) });
