// A user_id belongs to the device that registered it first; to all others it is as if it were not there.
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { ANN, ANNS_PAGE, BEN, newWorld, openFixture, OPEN, OPERATOR, ORIGIN, refusal, STRANGER } from "./fixture.ts";

const path = (id: string, userId?: string): string =>
  `/api/webauthn/credentials/${id}${userId === undefined ? "" : `?user_id=${encodeURIComponent(userId)}`}`;

test("to another device it is not there, in the same words", async () => {
  const fixture = await openFixture();
  const { id } = await fixture.add(ANN, new SoftAuthenticator(), "ann");
  await fixture.add(BEN, new SoftAuthenticator(), "ben");
  const told = async (userId: string, credential: string) => {
    const answers: unknown[] = [];
    for (const call of [
      { method: "DELETE", path: path(credential, userId) },
      { method: "DELETE", path: path(credential) },
      { method: "PUT", path: path(credential).concat("/name"), body: { name: "mine" } },
      { method: "POST", path: "/api/webauthn/auth/start", body: { user_id: userId } },
    ] as const) {
      const error = await fixture.call({ ...call, caller: BEN }).catch((thrown: unknown) => thrown);
      const { code, message, hint } = error as { code: string; message: string; hint?: string };
      answers.push({ code, message, hint });
    }
    return answers;
  };
  const others = await told("ann", id);
  expect(others).toEqual(await told("nobody", "AAAA"));
  expect(others).toEqual(
    Array.from({ length: 4 }, () => ({
      code: "PASSKEY_UNKNOWN",
      message: "There is no such passkey.",
      hint: undefined,
    })),
  );
  expect(await refusal(fixture.begin(BEN, "ann"))).toBe("PASSKEY_UNKNOWN");
  expect([await fixture.list(BEN, "ann"), await fixture.list(BEN, "nobody")]).toEqual([[], []]);
  expect(await fixture.list(ANN, "ann")).toHaveLength(1);
});

test("a device lists its own, of one user_id or of all", async () => {
  const fixture = await openFixture();
  await fixture.add(ANN, new SoftAuthenticator(), "ann");
  await fixture.add(ANN, new SoftAuthenticator(), "ann at work");
  await fixture.add(BEN, new SoftAuthenticator(), "ben");
  expect((await fixture.list(ANN)).map(({ user_id }) => user_id)).toEqual(["ann", "ann at work"]);
  expect((await fixture.list(ANN, "ann at work")).map(({ user_id }) => user_id)).toEqual(["ann at work"]);
  expect(await fixture.list(BEN)).toHaveLength(1);
  expect(await fixture.list(ANNS_PAGE)).toEqual(await fixture.list(ANN));
});

test("an operator sees all of them and whose they are; nobody else sees whose", async () => {
  const fixture = await openFixture();
  const { id } = await fixture.add(ANN, new SoftAuthenticator(), "ann");
  await fixture.add(BEN, new SoftAuthenticator(), "ben");
  expect((await fixture.list(OPERATOR)).map((one) => one.client_id)).toEqual(["client-ann", "client-ben"]);
  expect(await fixture.list(OPERATOR, "ann")).toHaveLength(1);
  expect(JSON.stringify(await fixture.list(ANN))).not.toContain("client");
  expect(await fixture.list(OPERATOR, "nobody")).toEqual([]);
  await fixture.call({
    method: "PUT",
    path: path(id).concat("/name"),
    caller: OPERATOR,
    body: { name: "by the operator" },
  });
  expect((await fixture.list(ANN))[0]?.name).toBe("by the operator");
});

describe("two at once", () => {
  test("of two devices that take a new user_id, one has it", async () => {
    for (let round = 0; round < 20; round += 1) {
      const fixture = await openFixture();
      const [ann, ben] = [new SoftAuthenticator(), new SoftAuthenticator()];
      const answers = [
        [ANN, ann.create(await fixture.begin(ANN, "boss"), ORIGIN)] as const,
        [BEN, ben.create(await fixture.begin(BEN, "boss"), ORIGIN)] as const,
      ];
      const ends = await Promise.all(answers.map(([caller, answer]) => refusal(fixture.finish(caller, answer))));
      expect(ends.toSorted()).toEqual(["PASSKEY_UNKNOWN", "taken"]);
      expect(await fixture.list(OPERATOR)).toHaveLength(1);
    }
  });

  test("of many passkeys that are added, none is lost", async () => {
    const fixture = await openFixture();
    const keys = Array.from({ length: 12 }, () => new SoftAuthenticator());
    const answers = [];
    for (const key of keys) answers.push(key.create(await fixture.begin(ANN, "ann"), ORIGIN));
    await Promise.all(answers.map((answer) => fixture.finish(ANN, answer)));
    expect(await fixture.list(ANN)).toHaveLength(12);
    const ends = await Promise.all(keys.map((key) => refusal(fixture.signIn(ANN, key))));
    expect(new Set(ends)).toEqual(new Set(["taken"]));
  });

  test("one that is used and renamed at once has both", async () => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, key);
    const rename = { method: "PUT", path: path(id).concat("/name"), caller: ANN, body: { name: "renamed" } } as const;
    await Promise.all([fixture.signIn(STRANGER, key), fixture.call(rename)]);
    expect((await fixture.list(ANN))[0]).toMatchObject({ name: "renamed", last_used_at: "2026-01-01T00:00:00.000Z" });
    // The counter was kept, too.
    await fixture.clock.advance(1000);
    expect(await refusal(fixture.signIn(STRANGER, key, { counter: 1 }))).toBe("PASSKEY_REFUSED");
  });
});

describe("limits", () => {
  test("20 passkeys of a user_id", async () => {
    const fixture = await openFixture();
    const late = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN);
    for (let count = 0; count < 20; count += 1) await fixture.add(ANN, new SoftAuthenticator());
    expect(await refusal(fixture.begin(ANN, "ann"))).toBe("PASSKEY_LIMIT");
    expect(await refusal(fixture.finish(ANN, late))).toBe("PASSKEY_LIMIT");
    await fixture.add(ANN, new SoftAuthenticator(), "another");
  });

  test("10 user_ids of a device", async () => {
    const fixture = await openFixture();
    for (let count = 0; count < 10; count += 1) await fixture.add(ANN, new SoftAuthenticator(), `user ${count}`);
    expect(await refusal(fixture.begin(ANN, "one more"))).toBe("PASSKEY_LIMIT");
    await fixture.add(ANN, new SoftAuthenticator(), "user 3");
    await fixture.add(BEN, new SoftAuthenticator(), "one more");
  });
});

describe("a device that was revoked", () => {
  test("its user_id is free again at once, and its passkey is nobody's", async () => {
    const fixture = await openFixture({ section: OPEN });
    const old = new SoftAuthenticator();
    await fixture.add(ANN, old, "boss");
    fixture.revoke("client-ann");
    expect(await refusal(fixture.signIn(STRANGER, old))).toBe("PASSKEY_UNKNOWN");
    const key = new SoftAuthenticator();
    await fixture.add(BEN, key, "boss");
    expect(await fixture.signIn(STRANGER, key)).toMatchObject({ as: "client-ben" });
    expect((await fixture.list(OPERATOR)).map(({ client_id }) => client_id)).toEqual(["client-ben"]);
  });

  test("what it had is swept at the start", async () => {
    const world = newWorld();
    const fixture = await openFixture({}, world);
    await fixture.add(ANN, new SoftAuthenticator(), "ann");
    await fixture.add(BEN, new SoftAuthenticator(), "ben");
    world.revoke("client-ann");
    await openFixture({}, world);
    expect(await world.secrets.list()).toHaveLength(1);
  });

  test("it adds nothing more, if it was revoked while the person looked for the key", async () => {
    const fixture = await openFixture();
    const answer = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN);
    fixture.revoke("client-ann");
    expect(await refusal(fixture.finish(ANN, answer))).toBe("UNAUTHORIZED");
    expect(await fixture.secrets.list()).toEqual([]);
  });
});

describe("a kill in the middle", () => {
  test("between the index and the passkey: the user_id is free", async () => {
    const world = newWorld();
    const fixture = await openFixture({}, world);
    const answer = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN);
    const own = world.own.of("client-ann" as never);
    const { set } = own;
    Object.assign(own, { set: () => Promise.reject(new Error("killed")) });
    await expect(fixture.finish(ANN, answer)).rejects.toThrow("killed");
    Object.assign(own, { set });
    expect(await world.secrets.list()).toHaveLength(1);
    await fixture.add(BEN, new SoftAuthenticator(), "ann");
    expect(await fixture.list(BEN, "ann")).toHaveLength(1);
  });

  test("between the passkey and the index: it is gone", async () => {
    const world = newWorld();
    const fixture = await openFixture({}, world);
    const { id } = await fixture.add(ANN, new SoftAuthenticator(), "ann");
    const remove = world.secrets.delete;
    Object.assign(world.secrets, { delete: () => Promise.reject(new Error("killed")) });
    await expect(fixture.call({ method: "DELETE", path: path(id), caller: ANN })).rejects.toThrow("killed");
    Object.assign(world.secrets, { delete: remove });
    expect(await fixture.list(ANN)).toEqual([]);
    await openFixture({}, world);
    expect(await world.secrets.list()).toEqual([]);
  });
});
