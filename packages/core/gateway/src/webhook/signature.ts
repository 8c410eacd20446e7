/** The Standard Webhooks signature that `POST /webhook` demands where a `signing_secret` is set. */
import type { IncomingHttpHeaders } from "node:http";
import { verifyWebhook, WEBHOOK_TOLERANCE_SECS, webhookKeyOf } from "@svc/kit";
import type { SeenIds } from "./seen-ids.ts";

/** An id must be remembered as long as its timestamp could still be fresh: from as far ahead to as far behind. */
export const REMEMBER_MS = 2 * WEBHOOK_TOLERANCE_SECS * 1000;

export class SignatureCheck {
  readonly #key: Buffer;
  readonly #seen: SeenIds;

  /** Throws CONFIG_INVALID. */
  constructor(secret: string, seen: SeenIds) {
    this.#key = webhookKeyOf(secret);
    this.#seen = seen;
  }

  /**
   * The webhook-id when everything is valid, fresh and seen for the first time; it is remembered from now on. Undefined
   * otherwise, whatever is wrong.
   */
  take(headers: IncomingHttpHeaders, body: Buffer, nowMs: number): string | undefined {
    const id = headers["webhook-id"];
    const timestamp = headers["webhook-timestamp"];
    const signatures = headers["webhook-signature"];
    if (typeof id !== "string" || typeof timestamp !== "string" || typeof signatures !== "string") return undefined;
    if (!/^[\x21-\x7e]{1,256}$/.test(id) || !/^\d{1,12}$/.test(timestamp)) return undefined;
    if (Math.abs(nowMs / 1000 - Number(timestamp)) > WEBHOOK_TOLERANCE_SECS) return undefined;
    if (!verifyWebhook(this.#key, { id, timestamp, body }, signatures)) return undefined;
    return this.#seen.add(id, nowMs) ? id : undefined;
  }

  /** Forgets an id whose request was not answered 200, so that the sender's retry is heard. */
  forget(id: string): void {
    this.#seen.delete(id);
  }
}
