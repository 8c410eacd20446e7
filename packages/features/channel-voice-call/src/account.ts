/** The account on the platform, and `svc channels setup voice_call`. */
import { type Json, SvcError } from "@svc/contract";
import { asCheckFailure, fieldsOf, listOf } from "@svc/kit";
import type { PlatformApi } from "./api.ts";
import type { Config } from "./config.ts";
import { PATHS } from "./protocol.ts";

/** One line for a person. */
export async function accountLine(
  api: PlatformApi,
  { from_number: number }: Config,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const { friendly_name: name, status, type } = await api.get("", {}, signal).catch(asCheckFailure);
  const notes = [type === "Trial" && "trial: calls verified numbers only", status !== "active" && word(status)];
  const told = notes.filter((note) => typeof note === "string" && note !== "");
  const who = word(name) === "" ? "an account without a name" : word(name);
  return `${who}, ${number}${told.length > 0 ? ` (${told.join(", ")})` : ""}`;
}

/** It goes to a terminal. */
const word = (value: unknown): string =>
  typeof value === "string"
    ? value
        .replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ")
        .trim()
        .slice(0, 100)
    : "";

/**
 * `svc channels setup voice_call`: the phone number calls this service.
 * https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource
 */
export async function setUp(api: PlatformApi, config: Config, base: string, signal: AbortSignal): Promise<string> {
  signal.throwIfAborted();
  const { from_number: number, allowed_numbers: allowed } = config;
  const found = await api.get("/IncomingPhoneNumbers", { PhoneNumber: number }, signal).catch(asCheckFailure);
  const sid = sidIn(found["incoming_phone_numbers"]);
  if (sid === undefined) {
    throw new SvcError("CHANNEL_CANNOT", `The account has no phone number ${number}.`, {
      hint: "Buy one in the platform's console, or set from_number to one it has.",
    });
  }
  const voice = { VoiceUrl: `${base}${PATHS.incoming}`, VoiceMethod: "POST" };
  const status = { StatusCallback: `${base}${PATHS.status}`, StatusCallbackMethod: "POST" };
  await api.post(`/IncomingPhoneNumbers/${sid}`, { ...voice, ...status }, signal).catch(asCheckFailure);
  return [
    `Calls to ${number} come in at ${base}${PATHS.incoming}, and how they end at ${base}${PATHS.status}.`,
    ...(/^https:/i.test(base) ? [] : ["The platform should reach it by https: set gateway.public_url."]),
    ...(allowed.length > 0 ? [] : ["No caller is allowed yet: add numbers to allowed_numbers."]),
  ].join(" ");
}

function sidIn(list: Json | undefined): string | undefined {
  const { sid } = fieldsOf(listOf(list)[0]);
  return typeof sid === "string" && /^PN[0-9a-fA-F]{32}$/.test(sid) ? sid : undefined;
}
