// Whatever is said, to whomever, with whatever key: the reference library of Standard Webhooks verifies it, and reads it as it was.
import type { FetchOptions } from "@svc/contract";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { message, never, open } from "./open-webhook.ts";

test("the library takes every message, and refuses it with anything changed", async () => {
  const text = fc.string({ unit: "binary", minLength: 1 });
  const key = fc.uint8Array({ minLength: 1, maxLength: 80 });
  await fc.assert(
    fc.asyncProperty(text, text, fc.option(text), key, fc.uuid(), async (content, id, thread, bytes, deliveryId) => {
      const secret = `whsec_${Buffer.from(bytes).toString("base64")}`;
      const sent: FetchOptions[] = [];
      const fetch = (url: string, options: FetchOptions = {}) => {
        sent.push(options);
        return Promise.resolve({ status: 202, headers: {}, bytes: new Uint8Array(), truncated: false, url });
      };
      const section = { url: "https://receiver.example.org/", url_secret: secret };
      const { channel } = open(section, { fetch, nowMs: Date.now() });
      const conversation = { channel: "webhook", id, ...(thread !== null && { thread }) };
      await channel.send(message({ text: content, conversation, deliveryId }), never);
      const { headers = {}, body } = sent[0]!;
      const verify = (payload: string, more: object = {}): unknown =>
        new Webhook(secret).verify(payload, { ...headers, ...more });
      const read = {
        content: content.toWellFormed(),
        conversation: id.toWellFormed(),
        thread_id: thread?.toWellFormed() ?? null,
      };
      expect(verify(body as string)).toEqual(read);
      expect(() => verify(`${body as string}\n`)).toThrow("signature");
      expect(() => verify(body as string, { "webhook-id": `${deliveryId}0` })).toThrow("signature");
    }),
    { numRuns: cases(40) },
  );
});
