// Callbacks: only what the platform posted now, and once, is read. The vectors are those of the platform's guide.
import { createHash } from "node:crypto";
import type { SampleDelivery, Verdict } from "@svc/contract";
import {
  workchatDelivery,
  workchatPlain,
  workchatSealed,
  workchatSigned,
} from "@svc/testkit/platforms/workchat/delivery";
import { workchatMessageEvent, workchatPress } from "@svc/testkit/platforms/workchat/events";
import { expect, test } from "vitest";
import { decrypted } from "../src/webhook.ts";
import { DM, fixture, ingressOf, NOW_MS, PERSON, posted, SECRETS } from "./fixture.ts";

const { encrypt_key: KEY, verification_token: TOKEN } = SECRETS;
const event = (token: string = TOKEN) =>
  workchatMessageEvent({ id: "1", from: PERSON, text: "hi", atMs: NOW_MS, token });
const raw = ({ body, headers }: SampleDelivery) => posted(body, headers);
const challenge = (token: string = TOKEN) => ({ challenge: "ajls384kdjx98XX", token, type: "url_verification" });

test("decrypts the example of the platform's guide", () => {
  const sealed = "P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk=";
  expect(decrypted(sealed, "test key")?.toString()).toBe("hello world");
  for (const other of ["", "AAAA", sealed.slice(4)]) expect(decrypted(other, "test key")).toBeUndefined();
  expect(decrypted(sealed, "another key")).toBeUndefined();
});

test("a genuine callback is read, and its nonce may be used once", () => {
  const delivery = workchatDelivery(event(), KEY, NOW_MS);
  const ingress = ingressOf();
  const verdict = ingress.verify(raw(delivery));
  expect(verdict).toMatchObject({ ok: true, once: expect.stringMatching(/^\d{10} [0-9a-f]{16}$/) as string });
  expect(ingress.parse(raw(delivery)).inbound).toMatchObject([{ text: "hi" }]);
  expect(ingress.signed).toBe(true);
});

const FORGED: readonly (readonly [what: string, delivery: SampleDelivery, why: string])[] = [
  [
    "signed with another key",
    workchatSigned(workchatSealed(Buffer.from("{}"), KEY), `${KEY}x`, NOW_MS),
    "the signature is wrong",
  ],
  ["301 s old", workchatDelivery(event(), KEY, NOW_MS - 301_000), "the timestamp is more than 300 s off"],
  ["301 s ahead", workchatDelivery(event(), KEY, NOW_MS + 301_000), "the timestamp is more than 300 s off"],
  ["without a signature", workchatPlain(event()), "the timestamp is missing, or is no time in seconds"],
  [
    "encrypted, without a signature",
    { ...workchatPlain({}), body: workchatSealed(Buffer.from(JSON.stringify(event())), KEY) },
    "the timestamp is missing, or is no time in seconds",
  ],
  ["a challenge in plain text", workchatPlain(challenge()), "the timestamp is missing, or is no time in seconds"],
  ["a nonce that takes a part of the key", shifted(), "the nonce is missing or malformed"],
];

/** The same digest for a nonce that is longer by what the timestamp lacks. */
function shifted(): SampleDelivery {
  const genuine = workchatDelivery(event(), KEY, NOW_MS);
  return { ...genuine, headers: { ...genuine.headers, "x-lark-request-nonce": "a b" } };
}

test.each(FORGED)("refuses a callback that is %s", (_, delivery, why) => {
  expect(ingressOf().verify(raw(delivery))).toEqual({ ok: false, code: "BAD_SIGNATURE", why });
});

test("the token in the event is checked, beside the signature or alone", () => {
  const wrong: Verdict = { ok: false, code: "UNAUTHORIZED", why: "the verification token is missing or wrong" };
  expect(ingressOf().verify(raw(workchatDelivery(event("another"), KEY, NOW_MS)))).toEqual(wrong);
  const alone = ingressOf({ encrypt_key: undefined });
  expect(alone.signed).toBe(false);
  expect(alone.verify(raw(workchatPlain(event())))).toEqual({ ok: true });
  for (const body of [event("x"), event(""), {}, [], "x"])
    expect(alone.verify(raw(workchatPlain(body)))).toEqual(wrong);
  expect(alone.verify(posted("{"))).toEqual(wrong);
  expect(ingressOf({ encrypt_key: " ", verification_token: "" }).verify(posted("{"))).toEqual({ ok: true });
});

test("a challenge is answered: signed, encrypted alone, or plain where there is no key", () => {
  const body = workchatSealed(Buffer.from(JSON.stringify(challenge())), KEY);
  const answered = { status: 200, contentType: "application/json", body: '{"challenge":"ajls384kdjx98XX"}' };
  for (const request of [raw(workchatSigned(body, KEY, NOW_MS)), posted(body)]) {
    expect(ingressOf().verify(request)).toMatchObject({ ok: true });
    expect(ingressOf().parse(request).reply).toEqual(answered);
  }
  const plain = ingressOf({ encrypt_key: undefined });
  expect(plain.verify(raw(workchatPlain(challenge())))).toEqual({ ok: true });
  expect(plain.parse(raw(workchatPlain(challenge()))).reply).toEqual(answered);
  const forged = workchatSealed(Buffer.from(JSON.stringify(challenge("another"))), KEY);
  expect(ingressOf().verify(posted(forged))).toMatchObject({ ok: false });
});

test("of a challenge without a signature nothing is read out that blocks of another callback could have brought in", () => {
  const sealed = (text: string) =>
    posted(workchatSealed(Buffer.from(JSON.stringify({ ...challenge(), challenge: text })), KEY));
  expect(ingressOf().verify(sealed("3eZbrw1aB-_.~+/="))).toEqual({ ok: true });
  for (const text of ["", "a b", "\u00e4", "\ufffd\ufffdom_1", 'a"b', "a\n", "a".repeat(257)]) {
    expect(ingressOf().verify(sealed(text))).toMatchObject({ ok: false, code: "BAD_SIGNATURE" });
    expect(ingressOf().parse(sealed(text)).reply).toBeUndefined();
  }
});

test("a press is answered with nothing to show", () => {
  const value = { choice: "svc-prompt:ap-1:yes", label: "Approve" };
  const press = workchatPress({ id: "p", from: PERSON, chat: DM, message: "om_1", value, atMs: NOW_MS, token: TOKEN });
  const parsed = ingressOf().parse(raw(workchatDelivery(press, KEY, NOW_MS)));
  expect(parsed).toMatchObject({ inbound: [{ choice: { prompt: "ap-1", approved: true } }], reply: { body: "{}" } });
});

test("a body that can't be read is BAD_JSON", () => {
  for (const body of ["{", '{"encrypt":"AAAA"}', "\u00ff"]) {
    expect(() => ingressOf().parse(posted(Buffer.from(body, "latin1")))).toThrow(
      expect.objectContaining({ code: "BAD_JSON" }) as Error,
    );
  }
});

test("the signature is that of the guide: timestamp, nonce, key, body", () => {
  const body = Buffer.from('{"encrypt":"x"}');
  const { headers } = workchatSigned(body, "k", 1_609_296_809_000, "abc");
  expect(headers["x-lark-signature"]).toBe(createHash("sha256").update('1609296809abck{"encrypt":"x"}').digest("hex"));
});

test("both sections have a path of their own", () => {
  expect(ingressOf().path).toBe("/workchat");
  expect(fixture({ receive_mode: "webhook" }, {}, "workchat_cn").ingress[0]!.path).toBe("/workchat-cn");
  expect(fixture().ingress).toEqual([]);
});
