// A passkey is added by the device whose page it is, with what the browser gives, and by nothing less.
import { hash } from "node:crypto";
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { cbor, type CborValue } from "@svc/testkit/webauthn/cbor";
import { describe, expect, test } from "vitest";
import { ANN, BEN, openFixture, OPERATOR, ORIGIN, refusal } from "./fixture.ts";

describe("what the browser is asked for", () => {
  test("a passkey that verifies the person, is found without a name, and tells no make", async () => {
    const fixture = await openFixture({ section: { enabled: true, rp_origin: ORIGIN, rp_name: "The agent" } });
    const options = await fixture.begin(ANN, "ann", "Ann Author");
    expect(options).toMatchObject({
      rp: { id: "agent.example.org", name: "The agent" },
      user: { name: "Ann Author", displayName: "Ann Author" },
      attestation: "none",
      timeout: 300_000,
      authenticatorSelection: { residentKey: "required", userVerification: "required" },
      excludeCredentials: [],
    });
    expect(options.pubKeyCredParams.map(({ alg }) => alg)).toEqual([-7, -8, -257]);
    // 32 random bytes: neither the user_id nor the device shows in it.
    expect(Buffer.from(options.user.id, "base64url")).toHaveLength(32);
    expect(Buffer.from(options.challenge, "base64url").toString("latin1")).not.toMatch(/ann|client/i);
  });

  test("what the user has already is excluded, and keeps the same account", async () => {
    const fixture = await openFixture();
    const phone = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, phone);
    const options = await fixture.begin(ANN, "ann");
    expect(options.excludeCredentials).toEqual([{ type: "public-key", id, transports: ["internal", "hybrid"] }]);
    expect(options.user.id).toBe(phone.credentials[0]?.userHandle);
    expect(() => phone.create(options, ORIGIN)).toThrow("excluded");
  });
});

describe("what is kept", () => {
  test.each(["ES256", "EdDSA", "RS256"] as const)("a passkey of %s is added and works", async (algorithm) => {
    const fixture = await openFixture();
    const key = new SoftAuthenticator({ algorithm });
    const { id } = await fixture.add(ANN, key);
    expect(await fixture.signIn(ANN, key)).toMatchObject({
      body: { verified: true, credential_id: id, user_id: "ann" },
    });
  });

  test("it has a name, of the person's choosing or the next free one", async () => {
    const fixture = await openFixture();
    expect((await fixture.add(ANN, new SoftAuthenticator())).name).toBe("Passkey 1");
    expect((await fixture.add(ANN, new SoftAuthenticator())).name).toBe("Passkey 2");
    const named = { ...new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN), name: "the blue key" };
    expect((await fixture.finish(ANN, named)).name).toBe("the blue key");
    expect((await fixture.list(ANN, "ann")).map(({ name }) => name)).toEqual([
      "Passkey 1",
      "Passkey 2",
      "the blue key",
    ]);
  });

  test("whether it can be copied, and was, is told", async () => {
    const fixture = await openFixture();
    const phone = new SoftAuthenticator({ backup: { isEligible: true, isBackedUp: true } });
    expect(await fixture.add(ANN, phone)).toMatchObject({ can_sync: true, is_synced: true });
    expect(await fixture.add(ANN, new SoftAuthenticator())).toMatchObject({ can_sync: false, is_synced: false });
  });

  test("nothing is written in plain, and names tell nothing", async () => {
    const fixture = await openFixture();
    await fixture.add(ANN, new SoftAuthenticator(), "ann@example.org");
    const [name = ""] = await fixture.secrets.list();
    expect(name).toMatch(/^[\w-]{43}\/[\w-]{43}$/);
    // The store seals the rest; see apps/svc/test/passkeys.test.ts.
    expect(name).not.toContain("ann");
  });
});

describe("refused", () => {
  const cases: [what: string, lies: Parameters<SoftAuthenticator["create"]>[2]][] = [
    ["another origin", { origin: "https://evil.example" }],
    ["a sub-domain", { origin: "https://evil.agent.example.org" }],
    ["the origin without its s", { origin: "http://agent.example.org" }],
    ["another relying party", { rpId: "evil.example" }],
    ["a person who was not verified", { isVerified: false }],
    ["a person who was not there", { isPresent: false }],
    ["the answer of a sign-in", { type: "webauthn.get" }],
    ["a page in a frame", { crossOrigin: true, topOrigin: "https://evil.example" }],
    ["a page in a frame whose top is not told", { crossOrigin: true }],
    ["a top origin without a frame", { topOrigin: "https://evil.example" }],
    ["authenticator data that is cut", { authData: (bytes) => bytes.subarray(0, 60) }],
    ["authenticator data with more behind", { authData: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) }],
    ["an attestation with certificates", { attestation: { fmt: "packed", attStmt: certified() } }],
    ["an attestation of a phone", { attestation: { fmt: "android-safetynet", attStmt: certified() } }],
    ["a format nobody knows", { attestation: { fmt: "constructor", attStmt: new Map() } }],
    ["a statement where there should be none", { attestation: { fmt: "none", attStmt: certified() } }],
  ];

  test.each(cases)("%s", async (_, lies) => {
    const fixture = await openFixture();
    const options = await fixture.begin(ANN, "ann");
    const answer = new SoftAuthenticator().create(options, ORIGIN, lies);
    expect(await refusal(fixture.finish(ANN, answer))).toBe("PASSKEY_REFUSED");
    expect(await fixture.list(ANN)).toEqual([]);
    // Whatever was wrong with it, its challenge is used up.
    expect(await refusal(fixture.finish(ANN, new SoftAuthenticator().create(options, ORIGIN)))).toBe("PASSKEY_EXPIRED");
  });

  test("certificates, before anything of them is read", async () => {
    const fixture = await openFixture();
    for (const fmt of ["packed", "fido-u2f", "tpm", "apple", "android-key", "android-safetynet"]) {
      const lies = { attestation: { fmt, attStmt: certified() } };
      const answer = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN, lies);
      await expect(fixture.finish(ANN, answer)).rejects.toThrow("an attestation that was not asked for");
    }
  });

  test("an algorithm that was not asked for", async () => {
    const fixture = await openFixture();
    const answer = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN, {
      // ES256 said to be ES512.
      authData: (bytes) => Buffer.from(bytes.toString("latin1").replace("\x03\x26", "\x03\x38\x23"), "latin1"),
    });
    expect(await refusal(fixture.finish(ANN, answer))).toBe("PASSKEY_REFUSED");
  });

  test("an id that is not the authenticator's", async () => {
    const fixture = await openFixture();
    const answer = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN);
    const id = Buffer.alloc(32, 7).toString("base64url");
    expect(await refusal(fixture.finish(ANN, { ...answer, id, rawId: id }))).toBe("PASSKEY_REFUSED");
  });

  test("a credential that somebody has, whoever it is", async () => {
    const fixture = await openFixture();
    const { id } = await fixture.add(ANN, new SoftAuthenticator());
    for (const [caller, user] of [
      [ANN, "ann"],
      [ANN, "other"],
      [BEN, "ben"],
    ] as const) {
      const options = await fixture.begin(caller, user);
      const copied = new SoftAuthenticator();
      const answer = copied.create(options, ORIGIN, { authData: (bytes) => withId(bytes, id) });
      expect(await refusal(fixture.finish(caller, { ...answer, id, rawId: id }))).toBe("PASSKEY_REFUSED");
    }
  });

  test("nobody's passkey: an operator has no device", async () => {
    const fixture = await openFixture();
    expect(await refusal(fixture.begin(OPERATOR, "ann"))).toBe("UNAUTHORIZED");
  });
});

test("self attestation, which browsers leave in, is taken", async () => {
  const fixture = await openFixture();
  const key = new SoftAuthenticator();
  const answer = selfAttested(key, await fixture.begin(ANN, "ann"));
  await fixture.finish(ANN, answer);
  expect((await fixture.signIn(ANN, key)).body).toMatchObject({ verified: true });
});

/** Made in two goes: the statement is signed with the key that the data tells. */
function selfAttested(key: SoftAuthenticator, options: Parameters<SoftAuthenticator["create"]>[0]) {
  let authData: Buffer = Buffer.alloc(0);
  const first = key.create(options, ORIGIN, { authData: (bytes) => (authData = bytes) });
  const clientHash = hash("sha256", Buffer.from(first.response.clientDataJSON, "base64url"), "buffer");
  const signature = key.credentials.at(-1)!.key.sign(Buffer.concat([authData, clientHash]));
  const statement = new Map<string, CborValue>([
    ["alg", -7],
    ["sig", signature],
  ]);
  const attestation = new Map<string, CborValue>([
    ["fmt", "packed"],
    ["attStmt", statement],
    ["authData", authData],
  ]);
  const attestationObject = cbor(attestation).toString("base64url");
  return { ...first, response: { ...first.response, attestationObject } };
}

function certified(): ReadonlyMap<string, CborValue> {
  return new Map<string, CborValue>([
    ["alg", -7],
    ["sig", Buffer.alloc(70, 1)],
    ["x5c", [Buffer.alloc(300, 0x30)]],
  ]);
}

/** The credential's id stands behind 32 + 1 + 4 + 16 + 2 bytes. */
const withId = (bytes: Buffer, id: string): Buffer =>
  Buffer.concat([bytes.subarray(0, 55), Buffer.from(id, "base64url"), bytes.subarray(55 + 32)]);
