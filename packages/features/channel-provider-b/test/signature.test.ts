// Signatures: stale, forged, half-signed and re-signed deliveries, and secrets that are too weak.
import { createHmac } from "node:crypto";
import type { RawRequest } from "@svc/contract";
import { providerBDelivery } from "@svc/testkit/platforms/provider-b/delivery";
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { verifier } from "../src/signature.ts";
import { NOW_MS, open, requestOf, SECRET } from "./open-channel.ts";

interface Input {
  readonly secret: string;
  readonly now_unix: number;
  readonly timestamp_header: string;
  readonly signature_header: string;
  readonly body_base64: string;
}

describe.each(vectorCases<Input, { valid: boolean }>("signature.provider_b"))("$name", ({ input, expected }) => {
  const request = (prefix: string): RawRequest => ({
    method: "POST",
    query: new URLSearchParams(),
    target: "/",
    headers: {
      "x-webhook-timestamp": input.timestamp_header,
      "x-webhook-signature": prefix + input.signature_header,
    },
    body: Buffer.from(input.body_base64, "base64"),
    receivedAtMs: input.now_unix * 1000,
  });

  test.each(["", "sha256="])("with the prefix %j", (prefix) => {
    const verdict = verifier(input.secret)(request(prefix));
    expect(verdict).toMatchObject(expected.valid ? { ok: true } : { ok: false, code: "BAD_SIGNATURE" });
  });
});

const message = { id: "m-1", chatId: "c-1", from: "+12025550123", text: "Hello", atMs: NOW_MS };
const signed = (atMs = NOW_MS) => requestOf(providerBDelivery({ ...message, atMs }, SECRET));

test.each([
  [300_000, true],
  [-300_000, true],
  [301_000, false],
  [-301_000, false],
])("a delivery that is %d ms off passes: %s", (offMs, ok) => {
  expect(verifier(SECRET)(signed(NOW_MS + offMs)).ok).toBe(ok);
});

test.each(["", " ", "-1", "+1770120000", "1770120000.0", "1e9", "0x1", "１７７０１２００００", "9".repeat(20)])(
  "rejects the timestamp %j, even with a valid signature",
  (timestamp) => {
    const body = Buffer.from("{}");
    const signature = createHmac("sha256", SECRET).update(`${timestamp}.{}`).digest("hex");
    const headers = { "x-webhook-timestamp": timestamp, "x-webhook-signature": signature };
    const receivedAtMs = Number(timestamp) * 1000 || NOW_MS;
    expect(verifier(SECRET)({ ...signed(), headers, body, receivedAtMs }).ok).toBe(false);
  },
);

test("rejects a delivery without timestamp or signature, or with another body; the reason quotes no value", () => {
  const genuine = signed();
  for (const changed of [
    { ...genuine, headers: { ...genuine.headers, "x-webhook-timestamp": undefined } },
    { ...genuine, headers: { ...genuine.headers, "x-webhook-signature": undefined } },
    { ...genuine, headers: {} },
    { ...genuine, body: Buffer.concat([genuine.body, Buffer.from(" ")]) },
    { ...genuine, body: new Uint8Array() },
  ]) {
    const verdict = verifier(SECRET)(changed);
    expect(verdict).toMatchObject({ ok: false, code: "BAD_SIGNATURE" });
    expect(JSON.stringify(verdict)).not.toContain(genuine.headers["x-webhook-signature"]);
  }
});

test("rejects a body with one changed byte, and every other secret", () => {
  const { body, ...genuine } = signed();
  fc.assert(
    fc.property(fc.nat(body.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const changed = Uint8Array.from(body);
      changed[at] = (changed[at]! + by) % 256;
      expect(verifier(SECRET)({ ...genuine, body: changed }).ok).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.string(), (other) => {
      expect(verifier(other)({ ...genuine, body }).ok).toBe(other === SECRET);
    }),
  );
});

describe("the headers of Standard Webhooks", () => {
  const key = Buffer.alloc(32, 7);
  const secret = `whsec_${key.toString("base64")}`;
  const body = Buffer.from('{"event_type":"message.received"}');
  const timestamp = String(NOW_MS / 1000);
  const sign = (with_ = key, id = "evt-1", at = timestamp) =>
    `v1,${createHmac("sha256", with_).update(`${id}.${at}.`).update(body).digest("base64")}`;
  const request = (headers: Record<string, string>) => ({
    ...signed(),
    body,
    headers: { "webhook-id": "evt-1", "webhook-timestamp": timestamp, ...headers },
  });

  test("prove a delivery, alone or among signatures of an older secret", () => {
    const verify = verifier(secret);
    for (const signature of [sign(), `v1,${"A".repeat(43)}= ${sign()}`]) {
      expect(verify(request({ "webhook-signature": signature }))).toEqual({ ok: true });
    }
    // The older headers are signed with the text of the secret, prefix and all.
    const older = requestOf(providerBDelivery(message, secret));
    expect(verify(older)).toEqual({ ok: true });
  });

  test.each<[string, Record<string, string>]>([
    ["another key", { "webhook-signature": sign(Buffer.alloc(32, 8)) }],
    ["another id", { "webhook-signature": sign(), "webhook-id": "evt-2" }],
    ["no id", { "webhook-signature": sign(key, ""), "webhook-id": "" }],
    ["a stale timestamp", { "webhook-signature": sign(key, "evt-1", "1"), "webhook-timestamp": "1" }],
    ["another version", { "webhook-signature": sign().replace("v1,", "v1a,") }],
    ["nothing", { "webhook-signature": "" }],
    ["the right signature after too many others", { "webhook-signature": `${"v1,x ".repeat(9)}${sign()}` }],
  ])("prove nothing with %s", (_, headers) => {
    expect(verifier(secret)(request(headers)).ok).toBe(false);
  });

  test.each(["whsec_", "whsec_AAAA", "whsec_not base64 at all, this one", "plain"])(
    "prove nothing with the secret %j: its key is missing or could be guessed",
    (weak) => {
      const short = Buffer.from(weak.replace("whsec_", ""), "base64");
      for (const guess of [short, Buffer.alloc(0), Buffer.from(weak)]) {
        expect(verifier(weak)(request({ "webhook-signature": sign(guess) })).ok).toBe(false);
      }
    },
  );
});

test("without a secret every delivery passes, and the ingress is marked as unsigned", () => {
  const { ingress } = open({ signing_secret: undefined });
  expect(ingress.signed).toBe(false);
  expect(ingress.verify({ ...signed(), headers: {} })).toEqual({ ok: true });
  expect(open().ingress.signed).toBe(true);
});
