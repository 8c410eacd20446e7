// Standard Webhooks: what is signed here verifies, and nothing that was changed, cut or made with another key does.
import { createHmac } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signWebhook, verifyWebhook, webhookKeyOf } from "../src/index.ts";

const key = webhookKeyOf("whsec_c2lnbmluZy1rZXktMDEyMzQ1Njc4OQ==");
const content = { id: "msg_1", timestamp: "1767225600", body: '{"message":"hi"}' };
const signature = signWebhook(key, content);

describe("a key", () => {
  test("is the base64 behind its prefix, or the bytes of any other text", () => {
    expect(key.toString()).toBe("signing-key-0123456789");
    expect(webhookKeyOf(" whsec_c2VjcmV0 ").toString()).toBe("secret");
    expect(webhookKeyOf("whsec_c2VjcmU").toString()).toBe("secre");
    expect(webhookKeyOf("schlüssel").toString()).toBe("schlüssel");
  });

  test.each(["", "  ", "whsec_", "whsec_===", "whsec_c2Vj cmV0", "whsec_c2VjcmV0!", "whsec_c2VjcmV1x", "whsec_-_-_"])(
    "%j is none",
    (text) => {
      expect(() => webhookKeyOf(text)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
    },
  );
});

describe("a signature", () => {
  test("is HMAC-SHA256 over id, timestamp and body, of bytes as of text", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.string(), fc.nat(), fc.uint8Array(), (bytes, id, at, body) => {
        const secret = Buffer.from(bytes);
        const signed = { id, timestamp: String(at), body };
        const reference = createHmac("sha256", secret).update(`${id}.${at}.`).update(body).digest("base64");
        expect(signWebhook(secret, signed)).toBe(`v1,${reference}`);
        expect(verifyWebhook(secret, signed, `v1,${reference}`)).toBe(true);
      }),
    );
    expect(signWebhook(key, { ...content, body: Buffer.from(content.body) })).toBe(signature);
  });

  test("may be one of several, of which others are another version's or another key's", () => {
    const other = signWebhook(webhookKeyOf("another"), content);
    expect(verifyWebhook(key, content, `v1a,AAAA ${other} ${signature}`)).toBe(true);
    expect(verifyWebhook(key, content, `${other} v2,AAAA`)).toBe(false);
  });

  test("of anything else than what came is wrong, and so is half of one", () => {
    for (const changed of [
      { ...content, id: "msg_2" },
      { ...content, timestamp: "1767225601" },
      { ...content, body: `${content.body} ` },
    ]) {
      expect(verifyWebhook(key, changed, signature)).toBe(false);
    }
    for (const written of ["", signature.slice(3), signature.slice(0, -1), `${signature}=`, signature.toLowerCase()]) {
      expect(verifyWebhook(key, content, written)).toBe(false);
    }
  });
});
