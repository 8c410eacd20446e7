// A passkey signs in as its own device, once for each challenge, and never when something about it is odd.
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { ANN, ANNS_PAGE, BEN, openFixture, OPEN, OPERATOR, ORIGIN, refusal, STRANGER } from "./fixture.ts";

describe("with sign_in", () => {
  test("a stranger is asked for any passkey, and told nothing of who there is", async () => {
    const fixture = await openFixture({ section: OPEN });
    await fixture.add(ANN, new SoftAuthenticator(), "ann");
    const [plain, named, nobody] = [
      await fixture.ask(STRANGER),
      await fixture.ask(STRANGER, "ann"),
      await fixture.ask(STRANGER, "nobody"),
    ];
    for (const options of [plain, named, nobody]) {
      expect(options).toEqual({
        challenge: options.challenge,
        rpId: "agent.example.org",
        timeout: 300_000,
        userVerification: "required",
      });
    }
    expect(named.challenge).not.toBe(nobody.challenge);
  });

  test("the page becomes the passkey's device, whoever asks", async () => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, phone);
    for (const caller of [STRANGER, ANN, ANNS_PAGE, BEN]) {
      expect(await fixture.signIn(caller, phone)).toEqual({
        as: "client-ann",
        body: { verified: true, credential_id: id, user_id: "ann" },
      });
    }
  });

  test("a program without a page is only told that the passkey is its own", async () => {
    const fixture = await openFixture({ section: OPEN, origin: null });
    const phone = new SoftAuthenticator();
    await fixture.add(ANN, phone);
    expect(await fixture.signIn(ANN, phone)).toMatchObject({ as: undefined, body: { verified: true } });
    expect(await refusal(fixture.signIn(BEN, phone))).toBe("PASSKEY_UNKNOWN");
  });

  test("a stranger who named a user can't come as another one", async () => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator();
    await fixture.add(ANN, phone, "ann");
    const asked = await fixture.ask(STRANGER, "ben");
    expect(await refusal(fixture.answer(STRANGER, phone.get(asked, ORIGIN)))).toBe("PASSKEY_UNKNOWN");
    const own = await fixture.ask(STRANGER, "ann");
    expect(await fixture.answer(STRANGER, phone.get(own, ORIGIN))).toMatchObject({ as: "client-ann" });
  });
});

describe("without sign_in", () => {
  test("strangers are nobody, and a bearer is told that the passkey is its own", async () => {
    const fixture = await openFixture();
    const phone = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, phone);
    expect(await refusal(fixture.ask(STRANGER))).toBe("UNAUTHORIZED");
    const proof = phone.get(await fixture.ask(ANN), ORIGIN);
    expect(await refusal(fixture.answer(STRANGER, proof))).toBe("UNAUTHORIZED");
    expect(await fixture.answer(ANN, proof)).toEqual({
      as: undefined,
      body: { verified: true, credential_id: id, user_id: "ann" },
    });
    expect(await refusal(fixture.signIn(BEN, phone))).toBe("PASSKEY_UNKNOWN");
  });

  test("a device that names its user is offered that user's passkeys, those that work", async () => {
    const fixture = await openFixture();
    const [first, second, other] = [new SoftAuthenticator(), new SoftAuthenticator(), new SoftAuthenticator()];
    const ids = [(await fixture.add(ANN, first)).id, (await fixture.add(ANN, second)).id];
    await fixture.add(ANN, other, "ann at work");
    const asked = await fixture.ask(ANN, "ann");
    expect(asked.allowCredentials?.map(({ id }) => id)).toEqual(ids);
    expect(() => other.get(asked, ORIGIN)).toThrow("no passkey fits");
    // Authenticators may leave out the handle where they had a list to choose from, and only there.
    expect(await fixture.answer(ANN, second.get(asked, ORIGIN, { userHandle: null }))).toMatchObject({
      body: { verified: true },
    });
    expect(await refusal(fixture.signIn(ANN, second, { userHandle: null }))).toBe("PASSKEY_REFUSED");
    expect(await refusal(fixture.ask(ANN, "nobody"))).toBe("PASSKEY_UNKNOWN");
    expect(await refusal(fixture.ask(OPERATOR))).toBe("UNAUTHORIZED");
  });
});

describe("refused", () => {
  const cases: [what: string, lies: Parameters<SoftAuthenticator["get"]>[2]][] = [
    ["another origin", { origin: "https://evil.example" }],
    ["another port", { origin: "https://agent.example.org:8443" }],
    ["another relying party", { rpId: "evil.example" }],
    ["a person who was not verified", { isVerified: false }],
    ["a person who was not there", { isPresent: false }],
    ["the answer of a registration", { type: "webauthn.create" }],
    ["a page in a frame", { crossOrigin: true, topOrigin: "https://evil.example" }],
    ["a page in a frame whose top is not told", { crossOrigin: true }],
    ["another user's handle", { userHandle: Buffer.alloc(32, 1).toString("base64url") }],
    ["an answer that is cut", { authData: (bytes) => bytes.subarray(0, 36) }],
    ["authenticator data with more behind", { authData: (bytes) => Buffer.concat([bytes, Buffer.alloc(1)]) }],
  ];

  test("in words that a person can do something with", async () => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator();
    await fixture.add(ANN, phone);
    for (const [lies, words] of [
      [{ origin: "https://evil.example" }, "another address"],
      [{ type: "webauthn.create" }, "another ceremony"],
      [{ crossOrigin: true }, "another site"],
      [{ isVerified: false }, "a PIN, a finger or a face"],
      [{ rpId: "evil.example" }, "does not hold"],
    ] as const) {
      await expect(fixture.signIn(STRANGER, phone, lies)).rejects.toThrow(words);
    }
  });

  test.each(cases)("%s", async (_, lies) => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator();
    await fixture.add(ANN, phone);
    expect(await refusal(fixture.signIn(STRANGER, phone, lies))).toBe("PASSKEY_REFUSED");
    expect(await fixture.signIn(STRANGER, phone)).toMatchObject({ as: "client-ann" });
  });

  // Of the signature those bytes that are numbers: around them the library's reader of DER lets a wrong length pass.
  test.each([
    ["authenticatorData", Array.from({ length: 37 }, (_, at) => at)],
    ["signature", [8, 12, 20, 30, -20, -9, -1]],
  ] as const)("%s of which a byte is another one", async (part, places) => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator({ countsBy: 0 });
    await fixture.add(ANN, phone);
    for (const at of places) {
      const answer = phone.get(await fixture.ask(STRANGER), ORIGIN);
      const bytes = Buffer.from(answer.response[part], "base64url");
      bytes[at < 0 ? bytes.length + at : at]! ^= 0x01;
      answer.response[part] = bytes.toString("base64url");
      expect(await refusal(fixture.answer(STRANGER, answer)), `byte ${at}`).toBe("PASSKEY_REFUSED");
    }
    expect((await fixture.list(ANN))[0]).toMatchObject({ suspect: false, last_used_at: null });
  });

  test("a challenge of somebody else's making, in an answer that is signed", async () => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator();
    await fixture.add(ANN, phone);
    const made = Buffer.alloc(200, 9).toString("base64url");
    for (const challenge of ["", "AAAA", made, "x".repeat(4000)]) {
      expect(await refusal(fixture.signIn(STRANGER, phone, { challenge }))).toBe("PASSKEY_EXPIRED");
    }
  });

  test("a passkey that was removed while its person looked for it", async () => {
    const fixture = await openFixture({ section: OPEN });
    const phone = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, phone);
    const proof = phone.get(await fixture.ask(STRANGER), ORIGIN);
    await fixture.call({ method: "DELETE", path: `/api/webauthn/credentials/${id}`, caller: ANN });
    expect(await refusal(fixture.answer(STRANGER, proof))).toBe("PASSKEY_UNKNOWN");
  });
});

describe("a copy of an authenticator", () => {
  test("shows by its counter: it is refused, and so is the other one, until it is removed", async () => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, key);
    await fixture.signIn(STRANGER, key);
    const stolen = key.clone();
    await fixture.signIn(STRANGER, key);
    await fixture.clock.advance(1000);
    expect(fixture.log.lines.filter(({ level }) => level === "warn")).toEqual([]);
    expect(await refusal(fixture.signIn(STRANGER, stolen))).toBe("PASSKEY_REFUSED");
    expect(fixture.log.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { message: expect.stringContaining("may have been copied") as string, fields: { passkey: id.slice(0, 12) } },
    ]);
    expect((await fixture.list(ANN))[0]).toMatchObject({ suspect: true });
    expect(await refusal(fixture.signIn(STRANGER, key))).toBe("PASSKEY_REFUSED");
    expect((await fixture.ask(ANN, "ann")).allowCredentials).toEqual([]);
    await fixture.clock.advance(1000);
    expect(await refusal(fixture.signIn(STRANGER, stolen, { counter: 1 }))).toBe("PASSKEY_REFUSED");
    // Told once, however often it is tried.
    expect(fixture.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    await fixture.call({ method: "DELETE", path: `/api/webauthn/credentials/${id}`, caller: ANN });
    expect(await refusal(fixture.signIn(STRANGER, key))).toBe("PASSKEY_UNKNOWN");
  });

  test.each([
    ["goes on by one", [1, 2, 3], [true, true, true]],
    ["jumps", [1, 400, 4_294_967_295], [true, true, true]],
    ["stands still", [5, 5], [true, false]],
    ["goes back to nothing", [5, 0], [true, false]],
    ["never counts", [0, 0, 0], [true, true, true]],
    ["begins to count", [0, 1, 2], [true, true, true]],
  ])("a counter that %s", async (_, counters, taken) => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    await fixture.add(ANN, key);
    for (const [index, counter] of counters.entries()) {
      await fixture.clock.advance(1000);
      const end = await refusal(fixture.signIn(STRANGER, key, { counter }));
      expect(end).toBe(taken[index] ? "taken" : "PASSKEY_REFUSED");
    }
  });

  test("is not taken for one where two uses came in the wrong order: the later one counts", async () => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    await fixture.add(ANN, key);
    const first = key.get(await fixture.ask(STRANGER), ORIGIN);
    await fixture.clock.advance(1000);
    const second = key.get(await fixture.ask(STRANGER), ORIGIN);
    await fixture.clock.advance(1000);
    expect(await fixture.answer(STRANGER, second)).toMatchObject({ as: "client-ann" });
    expect(await refusal(fixture.answer(STRANGER, first))).toBe("PASSKEY_EXPIRED");
    expect((await fixture.list(ANN))[0]).toMatchObject({ suspect: false });
    // Whoever has a copy gains nothing by having begun early: it is refused, and what begins later shows.
    const early = key.clone().get(await fixture.ask(STRANGER), ORIGIN, { counter: 1 });
    await fixture.clock.advance(1000);
    await fixture.signIn(STRANGER, key);
    expect(await refusal(fixture.answer(STRANGER, early))).toBe("PASSKEY_EXPIRED");
    await fixture.clock.advance(1000);
    expect(await refusal(fixture.signIn(STRANGER, key.clone(), { counter: 3 }))).toBe("PASSKEY_REFUSED");
  });

  test("nobody makes a passkey suspect without its key", async () => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    await fixture.add(ANN, key);
    await fixture.signIn(STRANGER, key, { counter: 9 });
    const forged = key.get(await fixture.ask(STRANGER), ORIGIN, { counter: 3 });
    forged.response.signature = Buffer.from(forged.response.signature, "base64url").fill(1, 20).toString("base64url");
    expect(await refusal(fixture.answer(STRANGER, forged))).toBe("PASSKEY_REFUSED");
    expect((await fixture.list(ANN))[0]).toMatchObject({ suspect: false });
    await fixture.signIn(STRANGER, key, { counter: 10 });
  });
});

test("a use is noted, with its time and whether the passkey was copied since", async () => {
  const fixture = await openFixture({ section: OPEN });
  const backup = { isEligible: true, isBackedUp: false };
  const phone = new SoftAuthenticator({ backup });
  await fixture.add(ANN, phone);
  expect((await fixture.list(ANN))[0]).toMatchObject({ last_used_at: null, is_synced: false });
  await fixture.clock.advance(60_000);
  backup.isBackedUp = true;
  await fixture.signIn(STRANGER, phone);
  expect((await fixture.list(ANN))[0]).toMatchObject({ last_used_at: "2026-01-01T00:01:00.000Z", is_synced: true });
});
