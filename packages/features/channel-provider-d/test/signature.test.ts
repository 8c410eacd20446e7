// Who may speak for the platform: forged, half signed and re-signed deliveries, a random that is none, both header names.
import { providerDDelivery } from "@svc/testkit/platforms/provider-d/delivery";
import { vectorCases } from "@svc/testkit/vectors";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { open, requestOf, SECRET } from "./open-channel.ts";

interface Input {
  readonly secret: string;
  readonly random_header: string;
  readonly signature_header: string;
  readonly body_base64: string;
}

const FAMILIES = ["x-provider-d", "x-nextcloud-talk"];

describe.each(vectorCases<Input, { valid: boolean }>("signature.provider_d"))("$name", ({ input, expected }) => {
  test.each(FAMILIES)("as %s-…", (family) => {
    const verdict = open({ webhook_secret: input.secret }).ingress.verify(
      requestOf({
        method: "POST",
        query: "",
        headers: { [`${family}-random`]: input.random_header, [`${family}-signature`]: input.signature_header },
        body: Buffer.from(input.body_base64, "base64"),
      }),
    );
    expect(verdict.ok).toBe(expected.valid);
    expect(verdict).toMatchObject(verdict.ok ? { once: input.random_header.trim() } : { code: "BAD_SIGNATURE" });
  });
});

const message = { id: "1567", room: "n3xtc10ud", from: "ada-lovelace", text: "Hello" };
const genuine = requestOf(providerDDelivery(message, SECRET));
const random = genuine.headers["x-provider-d-random"]!;
const signature = genuine.headers["x-provider-d-signature"]!;
const { ingress } = open();

test("each random may be used once, whatever its signature is written like", () => {
  expect(ingress.signed).toBe(true);
  for (const written of [signature, signature.toUpperCase(), `sha256=${signature}`, `  ${signature}  `]) {
    const headers = { ...genuine.headers, "x-provider-d-signature": written };
    expect(ingress.verify({ ...genuine, headers })).toEqual({ ok: true, once: random });
  }
});

test("half of the pair, another's half, another body or nothing at all is refused; why tells no value", () => {
  const other = requestOf(providerDDelivery(message, SECRET)).headers;
  const named = (family: string) => ({ [`${family}-random`]: random, [`${family}-signature`]: signature });
  for (const changed of [
    { ...genuine, headers: {} },
    { ...genuine, headers: { "x-provider-d-random": random } },
    { ...genuine, headers: { "x-provider-d-signature": signature } },
    { ...genuine, headers: { ...genuine.headers, "x-provider-d-random": other["x-provider-d-random"] } },
    { ...genuine, headers: { "x-nextcloud-talk-random": random, "x-provider-d-signature": signature } },
    { ...genuine, headers: { ...named("x-nextcloud-talk"), "x-provider-d-signature": "0".repeat(64) } },
    { ...genuine, headers: { ...genuine.headers, "x-provider-d-signature": `sha1=${signature}` } },
    { ...genuine, body: Buffer.concat([genuine.body, Buffer.from(" ")]) },
    { ...genuine, body: new Uint8Array() },
  ]) {
    const verdict = ingress.verify(changed);
    expect(verdict).toMatchObject({ ok: false, code: "BAD_SIGNATURE" });
    expect(JSON.stringify(verdict)).not.toContain(random);
    expect(JSON.stringify(verdict)).not.toContain(signature);
  }
  expect(ingress.verify({ ...genuine, headers: named("x-nextcloud-talk") }).ok).toBe(true);
});

test("no other secret signs, and no other random or body passes", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.uint8Array({ maxLength: 50 }), (secret, body) => {
      fc.pre(secret !== SECRET && secret.trim() !== "");
      expect(ingress.verify({ ...genuine, body }).ok).toBe(false);
      expect(ingress.verify(requestOf(providerDDelivery(message, secret))).ok).toBe(false);
    }),
  );
});

test.each([undefined, "", "  "])("without a secret (%j) nothing is checked, and nothing counts as used", (secret) => {
  const unsigned = open({ webhook_secret: secret }).ingress;
  expect(unsigned.signed).toBe(false);
  expect(unsigned.verify({ ...genuine, headers: {} })).toEqual({ ok: true });
});

test("a sample passes as genuine and is let in", () => {
  const sample = (from?: string) => ingress.sample!({ text: "Test", id: "7", atMs: 0, ...(from && { from }) });
  const request = requestOf(sample());
  expect(ingress.verify(request)).toMatchObject({ ok: true });
  expect(ingress.parse(request).inbound).toMatchObject([{ sender: "ada-lovelace", text: "Test", id: "7" }]);
  expect(ingress.parse(requestOf(sample("mallory")))).toEqual({});
});
