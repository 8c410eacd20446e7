// The way in: only the platform may verify the callback URL, and only what it signed is taken.
import { DEDUPE_MS, type RawRequest } from "@svc/contract";
import { verifyHmacSha256 } from "@svc/kit";
import { vectorCases } from "@svc/testkit/vectors";
import { describe, expect, test } from "vitest";
import { fixture, harness, NOW_MS, post, SECTION } from "./harness.ts";

describe("signature", () => {
  interface Case {
    readonly secret: string;
    readonly body_base64: string;
    readonly header: string;
  }
  const [blank, keyed] = ["", "key"].map((kind) =>
    vectorCases<Case, { valid: boolean }>("signature.provider_a").filter(
      ({ input }) => (input.secret.trim() === "") === (kind === ""),
    ),
  );
  test.each(keyed!)("$name", ({ input, expected }) => {
    const { ingress } = harness({ app_secret: input.secret });
    expect(ingress.signed).toBe(true);
    const request = post(Buffer.from(input.body_base64, "base64"), { "x-hub-signature-256": input.header });
    expect(ingress.verify(request).ok).toBe(expected.valid);
  });

  test.each(blank!)(
    "$name: it is no key that anybody could sign with, and everybody is told",
    ({ input, expected }) => {
      const { secret, header, body_base64: body } = input;
      const signed = { secret, parts: [Buffer.from(body, "base64")], header, prefix: "required" } as const;
      expect(verifyHmacSha256(signed)).toBe(expected.valid);
      expect(harness({ app_secret: secret }).ingress.signed).toBe(false);
    },
  );

  test("a body without a signature is refused, and why is told without a received value", () => {
    const { ingress } = harness();
    expect(ingress.verify(post("{}"))).toEqual({
      ok: false,
      code: "BAD_SIGNATURE",
      why: "X-Hub-Signature-256 is missing",
    });
    const forged = ingress.verify(post("{}", { "x-hub-signature-256": "sha256=c0ffee" }));
    expect(forged).toMatchObject({ ok: false, code: "BAD_SIGNATURE", why: expect.not.stringContaining("c0ffee") });
  });

  test.each(["SHA256=", "Sha256=", "sha256 =", "sha512=", ""])("with the prefix %j it is refused", (prefix) => {
    const { ingress } = harness();
    const { body, headers } = ingress.sample(MESSAGE);
    const hex = headers["x-hub-signature-256"]!.replace("sha256=", "");
    expect(ingress.verify(post(body, { "x-hub-signature-256": `sha256=${hex}` }))).toEqual({ ok: true });
    expect(ingress.verify(post(body, { "x-hub-signature-256": `${prefix}${hex}` }))).toMatchObject({ ok: false });
  });

  test("of a delivery that was signed by somebody else's app nothing is taken", () => {
    const theirs = harness({ app_secret: "another-secret" }).ingress.sample(MESSAGE);
    expect(harness().ingress.verify(post(theirs.body, theirs.headers)).ok).toBe(false);
  });

  test.each([undefined, "", "   "])("without a secret (%j) it is skipped, and said", (secret) => {
    const { ingress } = harness({ app_secret: secret });
    expect(ingress.signed).toBe(false);
    expect(ingress.verify(post("{}"))).toEqual({ ok: true });
    expect(ingress.sample(MESSAGE).headers).toEqual({ "content-type": "application/json" });
  });

  test("an old delivery is a replay: its id was forgotten", () => {
    expect(harness().ingress.maxAgeMs).toBe(DEDUPE_MS);
  });
});

describe("handshake", () => {
  const get = (query: string): RawRequest => ({
    method: "GET",
    query: new URLSearchParams(query),
    target: `/?${query}`,
    headers: {},
    body: new Uint8Array(),
    receivedAtMs: NOW_MS,
  });
  const TOKEN = `hub.verify_token=${SECTION.verify_token}`;

  test("the right token is answered with the challenge, as text", () => {
    const { ingress } = harness();
    const request = get(`hub.mode=subscribe&${TOKEN}&hub.challenge=1158201444`);
    expect(ingress.verify(request)).toEqual({ ok: true });
    expect(ingress.parse(request)).toEqual({
      reply: { status: 200, contentType: "text/plain; charset=utf-8", body: "1158201444" },
    });
  });

  test.each([
    ["", "the token is missing"],
    ["hub.verify_token=", "the token is blank"],
    ["hub.verify_token=wrong", "the token is wrong"],
    [`hub.verify_token=${SECTION.verify_token}x`, "there is more of it"],
    [`hub.mode=unsubscribe&${TOKEN}`, "the mode is another one"],
    [`hub.mode=&${TOKEN}`, "the mode is blank"],
  ])("%s: 403, because %s", (query) => {
    const verdict = harness().ingress.verify(get(`${query}&hub.challenge=1`));
    expect(verdict).toMatchObject({ ok: false, code: "BAD_VERIFY_TOKEN" });
    expect(JSON.stringify(verdict)).not.toContain("wrong");
  });

  test("the mode may be missing", () => {
    expect(harness().ingress.verify(get(`${TOKEN}&hub.challenge=1`))).toEqual({ ok: true });
  });

  test.each([TOKEN, `${TOKEN}&hub.challenge=`])("without a challenge: 400", (query) => {
    expect(() => harness().ingress.parse(get(query))).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  });
});

const MESSAGE = { text: "hello", id: "sample-1", atMs: NOW_MS };

describe("a sample", () => {
  const roundTrip = (section: object, message: object = {}) => {
    const { ingress } = harness({ ...section });
    const { method, headers, body } = ingress.sample({ ...MESSAGE, ...message });
    const request = { ...post(body, headers), method };
    return { verdict: ingress.verify(request), ...ingress.parse(request) };
  };

  test("is signed, and is one message of somebody who may write", () => {
    const { verdict, inbound } = roundTrip({ allowed_numbers: ["+49 151 1234"] });
    expect(verdict).toEqual({ ok: true });
    expect(inbound).toMatchObject([{ id: "sample-1", text: "hello", sender: "+491511234", sentAtMs: NOW_MS }]);
  });

  test.each([
    [["*"], undefined, "+15550001111"],
    [["*"], "+1 (650) 555-1234", "+16505551234"],
    [["US.13491208655302741918"], undefined, "US.13491208655302741918"],
    [["+1", "US.13491208655302741918"], "US.13491208655302741918", "US.13491208655302741918"],
  ])("is of whom it was asked for: %j %s", (allowed, from, sender) => {
    expect(roundTrip({ allowed_numbers: allowed }, from === undefined ? {} : { from }).inbound).toMatchObject([
      { sender },
    ]);
  });

  test("looks like what the platform sends", () => {
    const sample = JSON.parse(Buffer.from(harness().ingress.sample(MESSAGE).body).toString()) as object;
    expect(shapeOf(JSON.parse(fixture("text")) as object)).toEqual(expect.arrayContaining(shapeOf(sample)));
  });
});

/** Paths of all fields. */
const shapeOf = (value: unknown, path = ""): string[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => shapeOf(inner, `${path}/${key}`))
    : [path];
