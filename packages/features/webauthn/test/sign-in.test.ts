// A passkey signs in as its own device, once for each challenge, and never when something about it is odd.
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { ANN, ANNS_PAGE, BEN, openHouse, OPEN, OPERATOR, ORIGIN, refusal, STRANGER } from "./house.ts";

describe("with sign_in", () => {
  test("a stranger is asked for any passkey, and told nothing of who there is", async () => {
    const house = await openHouse({ section: OPEN });
    await house.add(ANN, new SoftAuthenticator(), "ann");
    const [plain, named, nobody] = [
      await house.ask(STRANGER),
      await house.ask(STRANGER, "ann"),
      await house.ask(STRANGER, "nobody"),
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
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator();
    const { id } = await house.add(ANN, phone);
    for (const caller of [STRANGER, ANN, ANNS_PAGE, BEN]) {
      expect(await house.signIn(caller, phone)).toEqual({
        as: "client-ann",
        body: { verified: true, credential_id: id, user_id: "ann" },
      });
    }
  });

  test("a program without a page is only told that the passkey is its own", async () => {
    const house = await openHouse({ section: OPEN, origin: null });
    const phone = new SoftAuthenticator();
    await house.add(ANN, phone);
    expect(await house.signIn(ANN, phone)).toMatchObject({ as: undefined, body: { verified: true } });
    expect(await refusal(house.signIn(BEN, phone))).toBe("PASSKEY_UNKNOWN");
  });

  test("a stranger who named a user can't come as another one", async () => {
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator();
    await house.add(ANN, phone, "ann");
    const asked = await house.ask(STRANGER, "ben");
    expect(await refusal(house.answer(STRANGER, phone.get(asked, ORIGIN)))).toBe("PASSKEY_UNKNOWN");
    const own = await house.ask(STRANGER, "ann");
    expect(await house.answer(STRANGER, phone.get(own, ORIGIN))).toMatchObject({ as: "client-ann" });
  });
});

describe("without sign_in", () => {
  test("strangers are nobody, and a bearer is told that the passkey is its own", async () => {
    const house = await openHouse();
    const phone = new SoftAuthenticator();
    const { id } = await house.add(ANN, phone);
    expect(await refusal(house.ask(STRANGER))).toBe("UNAUTHORIZED");
    const proof = phone.get(await house.ask(ANN), ORIGIN);
    expect(await refusal(house.answer(STRANGER, proof))).toBe("UNAUTHORIZED");
    expect(await house.answer(ANN, proof)).toEqual({
      as: undefined,
      body: { verified: true, credential_id: id, user_id: "ann" },
    });
    expect(await refusal(house.signIn(BEN, phone))).toBe("PASSKEY_UNKNOWN");
  });

  test("a device that names its user is offered that user's passkeys, those that work", async () => {
    const house = await openHouse();
    const [first, second, other] = [new SoftAuthenticator(), new SoftAuthenticator(), new SoftAuthenticator()];
    const ids = [(await house.add(ANN, first)).id, (await house.add(ANN, second)).id];
    await house.add(ANN, other, "ann at work");
    const asked = await house.ask(ANN, "ann");
    expect(asked.allowCredentials?.map(({ id }) => id)).toEqual(ids);
    expect(() => other.get(asked, ORIGIN)).toThrow("no passkey fits");
    // Authenticators may leave out the handle where they had a list to choose from, and only there.
    expect(await house.answer(ANN, second.get(asked, ORIGIN, { userHandle: null }))).toMatchObject({
      body: { verified: true },
    });
    expect(await refusal(house.signIn(ANN, second, { userHandle: null }))).toBe("PASSKEY_REFUSED");
    expect(await refusal(house.ask(ANN, "nobody"))).toBe("PASSKEY_UNKNOWN");
    expect(await refusal(house.ask(OPERATOR))).toBe("UNAUTHORIZED");
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
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator();
    await house.add(ANN, phone);
    for (const [lies, words] of [
      [{ origin: "https://evil.example" }, "another address"],
      [{ type: "webauthn.create" }, "another ceremony"],
      [{ crossOrigin: true }, "another site"],
      [{ isVerified: false }, "a PIN, a finger or a face"],
      [{ rpId: "evil.example" }, "does not hold"],
    ] as const) {
      await expect(house.signIn(STRANGER, phone, lies)).rejects.toThrow(words);
    }
  });

  test.each(cases)("%s", async (_, lies) => {
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator();
    await house.add(ANN, phone);
    expect(await refusal(house.signIn(STRANGER, phone, lies))).toBe("PASSKEY_REFUSED");
    expect(await house.signIn(STRANGER, phone)).toMatchObject({ as: "client-ann" });
  });

  // Of the signature those bytes that are numbers: around them the library's reader of DER lets a wrong length pass.
  test.each([
    ["authenticatorData", Array.from({ length: 37 }, (_, at) => at)],
    ["signature", [8, 12, 20, 30, -20, -9, -1]],
  ] as const)("%s of which a byte is another one", async (part, places) => {
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator({ countsBy: 0 });
    await house.add(ANN, phone);
    for (const at of places) {
      const answer = phone.get(await house.ask(STRANGER), ORIGIN);
      const bytes = Buffer.from(answer.response[part], "base64url");
      bytes[at < 0 ? bytes.length + at : at]! ^= 0x01;
      answer.response[part] = bytes.toString("base64url");
      expect(await refusal(house.answer(STRANGER, answer)), `byte ${at}`).toBe("PASSKEY_REFUSED");
    }
    expect((await house.list(ANN))[0]).toMatchObject({ suspect: false, last_used_at: null });
  });

  test("a challenge of somebody else's making, in an answer that is signed", async () => {
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator();
    await house.add(ANN, phone);
    const made = Buffer.alloc(200, 9).toString("base64url");
    for (const challenge of ["", "AAAA", made, "x".repeat(4000)]) {
      expect(await refusal(house.signIn(STRANGER, phone, { challenge }))).toBe("PASSKEY_EXPIRED");
    }
  });

  test("a passkey that was removed while its person looked for it", async () => {
    const house = await openHouse({ section: OPEN });
    const phone = new SoftAuthenticator();
    const { id } = await house.add(ANN, phone);
    const proof = phone.get(await house.ask(STRANGER), ORIGIN);
    await house.call({ method: "DELETE", path: `/api/webauthn/credentials/${id}`, caller: ANN });
    expect(await refusal(house.answer(STRANGER, proof))).toBe("PASSKEY_UNKNOWN");
  });
});

describe("a copy of an authenticator", () => {
  test("shows by its counter: it is refused, and so is the other one, until it is removed", async () => {
    const house = await openHouse({ section: OPEN });
    const key = new SoftAuthenticator();
    const { id } = await house.add(ANN, key);
    await house.signIn(STRANGER, key);
    const stolen = key.clone();
    await house.signIn(STRANGER, key);
    await house.clock.advance(1000);
    expect(house.log.lines.filter(({ level }) => level === "warn")).toEqual([]);
    expect(await refusal(house.signIn(STRANGER, stolen))).toBe("PASSKEY_REFUSED");
    expect(house.log.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { message: expect.stringContaining("may have been copied") as string, fields: { passkey: id.slice(0, 12) } },
    ]);
    expect((await house.list(ANN))[0]).toMatchObject({ suspect: true });
    expect(await refusal(house.signIn(STRANGER, key))).toBe("PASSKEY_REFUSED");
    expect((await house.ask(ANN, "ann")).allowCredentials).toEqual([]);
    await house.clock.advance(1000);
    expect(await refusal(house.signIn(STRANGER, stolen, { counter: 1 }))).toBe("PASSKEY_REFUSED");
    // Told once, however often it is tried.
    expect(house.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
    await house.call({ method: "DELETE", path: `/api/webauthn/credentials/${id}`, caller: ANN });
    expect(await refusal(house.signIn(STRANGER, key))).toBe("PASSKEY_UNKNOWN");
  });

  test.each([
    ["goes on by one", [1, 2, 3], [true, true, true]],
    ["jumps", [1, 400, 4_294_967_295], [true, true, true]],
    ["stands still", [5, 5], [true, false]],
    ["goes back to nothing", [5, 0], [true, false]],
    ["never counts", [0, 0, 0], [true, true, true]],
    ["begins to count", [0, 1, 2], [true, true, true]],
  ])("a counter that %s", async (_, counters, taken) => {
    const house = await openHouse({ section: OPEN });
    const key = new SoftAuthenticator();
    await house.add(ANN, key);
    for (const [index, counter] of counters.entries()) {
      await house.clock.advance(1000);
      const end = await refusal(house.signIn(STRANGER, key, { counter }));
      expect(end).toBe(taken[index] ? "taken" : "PASSKEY_REFUSED");
    }
  });

  test("is not taken for one where two uses came in the wrong order: the later one counts", async () => {
    const house = await openHouse({ section: OPEN });
    const key = new SoftAuthenticator();
    await house.add(ANN, key);
    const first = key.get(await house.ask(STRANGER), ORIGIN);
    await house.clock.advance(1000);
    const second = key.get(await house.ask(STRANGER), ORIGIN);
    await house.clock.advance(1000);
    expect(await house.answer(STRANGER, second)).toMatchObject({ as: "client-ann" });
    expect(await refusal(house.answer(STRANGER, first))).toBe("PASSKEY_EXPIRED");
    expect((await house.list(ANN))[0]).toMatchObject({ suspect: false });
    // Whoever has a copy gains nothing by having begun early: it is refused, and what begins later shows.
    const early = key.clone().get(await house.ask(STRANGER), ORIGIN, { counter: 1 });
    await house.clock.advance(1000);
    await house.signIn(STRANGER, key);
    expect(await refusal(house.answer(STRANGER, early))).toBe("PASSKEY_EXPIRED");
    await house.clock.advance(1000);
    expect(await refusal(house.signIn(STRANGER, key.clone(), { counter: 3 }))).toBe("PASSKEY_REFUSED");
  });

  test("nobody makes a passkey suspect without its key", async () => {
    const house = await openHouse({ section: OPEN });
    const key = new SoftAuthenticator();
    await house.add(ANN, key);
    await house.signIn(STRANGER, key, { counter: 9 });
    const forged = key.get(await house.ask(STRANGER), ORIGIN, { counter: 3 });
    forged.response.signature = Buffer.from(forged.response.signature, "base64url").fill(1, 20).toString("base64url");
    expect(await refusal(house.answer(STRANGER, forged))).toBe("PASSKEY_REFUSED");
    expect((await house.list(ANN))[0]).toMatchObject({ suspect: false });
    await house.signIn(STRANGER, key, { counter: 10 });
  });
});

test("a use is noted, with its time and whether the passkey was copied since", async () => {
  const house = await openHouse({ section: OPEN });
  const backup = { isEligible: true, isBackedUp: false };
  const phone = new SoftAuthenticator({ backup });
  await house.add(ANN, phone);
  expect((await house.list(ANN))[0]).toMatchObject({ last_used_at: null, is_synced: false });
  await house.clock.advance(60_000);
  backup.isBackedUp = true;
  await house.signIn(STRANGER, phone);
  expect((await house.list(ANN))[0]).toMatchObject({ last_used_at: "2026-01-01T00:01:00.000Z", is_synced: true });
});
