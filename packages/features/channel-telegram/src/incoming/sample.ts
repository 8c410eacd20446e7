/** A delivery as the platform would make it: for `svc webhook send`, and for tests. */
import { createHash } from "node:crypto";
import type { SampleDelivery, SampleMessage } from "@svc/contract";
import type { Config } from "../config.ts";

export function sampleDelivery(
  { text, from, id, atMs }: SampleMessage,
  { webhook_secret: secret, allowed_users: allowed }: Pick<Config, "webhook_secret" | "allowed_users">,
): SampleDelivery {
  const who = (from ?? allowed.find((entry) => entry.trim() !== "*") ?? ANYBODY).trim();
  const isId = /^\d{1,16}$/.test(who);
  const user = { id: isId ? Number(who) : numberOf(who), first_name: "svc webhook send" };
  const message = {
    message_id: numberOf(id),
    from: { ...user, is_bot: false, ...(!isId && { username: who.replace(/^@/, "") }) },
    chat: { ...user, type: "private" },
    date: Math.floor(atMs / 1000),
    text,
  };
  return {
    method: "POST",
    query: "",
    headers: {
      "content-type": "application/json",
      ...(secret !== undefined && { "x-telegram-bot-api-secret-token": secret }),
    },
    body: Buffer.from(JSON.stringify({ update_id: numberOf(id), message })),
  };
}

/** An id of the platform's test servers. */
const ANYBODY = "9996610000";

/** The platform numbers everything: a text as a number, the same each time. */
const numberOf = (text: string): number => (createHash("sha256").update(text).digest().readUInt32BE(0) >>> 1) + 1;
