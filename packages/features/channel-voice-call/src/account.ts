/** Who we are on the platform. https://www.twilio.com/docs/iam/api/account */
import { asCheckFailure } from "@svc/kit";
import type { Config } from "./config.ts";
import type { PlatformApi } from "./platform/api.ts";

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
