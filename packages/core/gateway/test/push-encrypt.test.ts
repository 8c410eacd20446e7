// A push message that a browser can't open is lost without a word: what is sent is checked against the RFC's own example.
import { createPublicKey, verify } from "node:crypto";
import { describe, expect, test } from "vitest";
import { encryptPush, isPushKeys, makeVapidKey, MAX_PLAIN_BYTES, readVapidKey, vapidHeader } from "../src/web-push.ts";
import { decryptPush, makeBrowserKeys } from "@svc/testkit/web-push";

const bytes = (text: string): Buffer => Buffer.from(text, "base64url");

describe("RFC 8291, section 5", () => {
  const p256dh = bytes("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4");
  const auth = bytes("BTBZMqHH6r4Tts7J_aSIgg");
  const privateKey = bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw");
  const salt = bytes("DGv6ra1nlYgDCS1FRnbzlw");

  test("the example's inputs make the example's body", () => {
    const body = encryptPush("When I grow up, I want to be a watermelon", { p256dh, auth }, { privateKey, salt });
    expect(body.toString("base64url")).toBe(
      "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml" +
        "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT" +
        "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    );
  });
});

test.each(["", "An approval is waiting.", "grüße 😀", "x".repeat(MAX_PLAIN_BYTES)])("a browser opens %j", (text) => {
  const browser = makeBrowserKeys();
  const body = encryptPush(text, browser);
  expect(body.length).toBeLessThanOrEqual(4096);
  expect(decryptPush(body, browser)).toBe(text);
});

test("no two bodies of one text are alike, and another browser can't open them", () => {
  const browser = makeBrowserKeys();
  expect(encryptPush("one", browser).equals(encryptPush("one", browser))).toBe(false);
  expect(() => decryptPush(encryptPush("one", browser), makeBrowserKeys())).toThrow(/authenticate/);
});

test("what is larger than push services take is refused", () => {
  expect(() => encryptPush("x".repeat(MAX_PLAIN_BYTES + 1), makeBrowserKeys())).toThrow(RangeError);
});

test("keys that no browser makes are known", () => {
  const { p256dh, auth } = makeBrowserKeys();
  const offCurve = Buffer.from(p256dh);
  offCurve[64]! ^= 1;
  expect(isPushKeys({ p256dh, auth })).toBe(true);
  for (const bad of [
    { p256dh: offCurve, auth },
    { p256dh: p256dh.subarray(1), auth },
    { p256dh: Buffer.alloc(65, 4), auth },
    { p256dh, auth: auth.subarray(1) },
  ]) {
    expect(isPushKeys(bad)).toBe(false);
  }
});

test("the sender's token is signed for one push service, for half a day, with a key that outlives a restart", () => {
  const { key, text } = makeVapidKey();
  expect(readVapidKey(text).publicKey).toBe(key.publicKey);
  const [, head, claims, signature, shown] =
    /^vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]+)$/.exec(
      vapidHeader(readVapidKey(text), "https://push.example", "mailto:a@b.example", 1_000_000),
    ) ?? [];
  expect(shown).toBe(key.publicKey);
  expect(JSON.parse(bytes(head!).toString())).toEqual({ typ: "JWT", alg: "ES256" });
  expect(JSON.parse(bytes(claims!).toString())).toEqual({
    aud: "https://push.example",
    exp: 1000 + 12 * 3600,
    sub: "mailto:a@b.example",
  });
  const point = bytes(key.publicKey);
  const x = point.subarray(1, 33).toString("base64url");
  const y = point.subarray(33).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const options = { key: publicKey, dsaEncoding: "ieee-p1363" as const };
  expect(verify("sha256", Buffer.from(`${head}.${claims}`), options, bytes(signature!))).toBe(true);
  expect(() => readVapidKey("{}")).toThrow(/Invalid/);
});
