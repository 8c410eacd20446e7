/** Who we are on the platform. */
import { asCheckFailure } from "@svc/kit";
import type { GraphApi } from "./graph.ts";
import { type Fields, textOf } from "./protocol.ts";

/**
 * One line for a person.
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/business-phone-numbers/phone-numbers
 */
export async function accountLine(graph: GraphApi, phoneNumberId: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const fields = "display_phone_number,verified_name,quality_rating";
  return described(await graph.get(phoneNumberId, { fields }, signal).catch(asCheckFailure));
}

function described({ display_phone_number: number, verified_name: name, quality_rating: rating }: Fields): string {
  const quality = textOf(rating);
  const who = [textOf(name), textOf(number)].filter((part) => part !== undefined).join(", ");
  return printable(`${who === "" ? "a phone number without a name" : who}${quality ? `, quality ${quality}` : ""}`);
}

/** It goes to a terminal. */
const printable = (text: string): string => text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").slice(0, 200);
