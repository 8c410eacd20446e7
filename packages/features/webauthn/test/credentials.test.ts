// Passkeys are listed, renamed and removed; a page may not remove the last one that works.
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { ANN, ANNS_PAGE, openFixture, OPEN, OPERATOR, refusal, STRANGER } from "./fixture.ts";

const remove = (id: string, userId = "") =>
  ({ method: "DELETE", path: `/api/webauthn/credentials/${id}${userId && `?user_id=${userId}`}` }) as const;

describe("the last passkey of a user_id", () => {
  test("is removed with the token or by an operator, not by a page", async () => {
    const fixture = await openFixture();
    for (const caller of [ANN, OPERATOR]) {
      const { id } = await fixture.add(ANN, new SoftAuthenticator());
      expect(await refusal(fixture.call({ ...remove(id), caller: ANNS_PAGE }))).toBe("PASSKEY_LAST");
      expect(await fixture.list(ANN)).toHaveLength(1);
      expect(await fixture.call({ ...remove(id, "ann"), caller })).toMatchObject({ body: { id, removed: true } });
      expect(await fixture.list(ANN)).toEqual([]);
    }
  });

  test("is so for each user_id", async () => {
    const fixture = await openFixture();
    await fixture.add(ANN, new SoftAuthenticator(), "ann");
    const { id } = await fixture.add(ANN, new SoftAuthenticator(), "ann at work");
    expect(await refusal(fixture.call({ ...remove(id), caller: ANNS_PAGE }))).toBe("PASSKEY_LAST");
  });

  test("is the last one that works: one that may be a copy counts for nothing", async () => {
    const fixture = await openFixture({ section: OPEN });
    const [good, bad] = [new SoftAuthenticator(), new SoftAuthenticator()];
    const [first, second] = [await fixture.add(ANN, good), await fixture.add(ANN, bad)];
    await fixture.signIn(STRANGER, bad, { counter: 5 });
    await fixture.clock.advance(1000);
    await refusal(fixture.signIn(STRANGER, bad, { counter: 5 }));
    expect(await refusal(fixture.call({ ...remove(first.id), caller: ANNS_PAGE }))).toBe("PASSKEY_LAST");
    await fixture.call({ ...remove(second.id), caller: ANNS_PAGE });
    expect((await fixture.list(ANN)).map(({ id }) => id)).toEqual([first.id]);
  });

  test("of two pages that remove one of two each, one is refused", async () => {
    const fixture = await openFixture();
    const [first, second] = [
      await fixture.add(ANN, new SoftAuthenticator()),
      await fixture.add(ANN, new SoftAuthenticator()),
    ];
    const ends = await Promise.all(
      [first, second].map(({ id }) => refusal(fixture.call({ ...remove(id), caller: ANNS_PAGE }))),
    );
    expect(ends.toSorted()).toEqual(["PASSKEY_LAST", "taken"]);
  });
});

test("a page may do the rest of what its device may", async () => {
  const fixture = await openFixture();
  const { id } = await fixture.add(ANNS_PAGE, new SoftAuthenticator());
  const second = await fixture.add(ANNS_PAGE, new SoftAuthenticator());
  await fixture.call({
    method: "PUT",
    path: `/api/webauthn/credentials/${id}/name`,
    caller: ANNS_PAGE,
    body: { name: "  the phone " },
  });
  await fixture.call({ ...remove(second.id), caller: ANNS_PAGE });
  expect(await fixture.list(ANNS_PAGE)).toMatchObject([{ id, name: "the phone" }]);
});

test("strangers may do none of it, whatever is open", async () => {
  const fixture = await openFixture({ section: OPEN });
  const { id } = await fixture.add(ANN, new SoftAuthenticator());
  expect(await refusal(fixture.list(STRANGER))).toBe("UNAUTHORIZED");
  expect(await refusal(fixture.call({ ...remove(id), caller: STRANGER }))).toBe("UNAUTHORIZED");
  expect(await refusal(fixture.begin(STRANGER, "ann"))).toBe("UNAUTHORIZED");
});

describe("words of people's own", () => {
  const user = (userId: string) => ({
    path: "/api/webauthn/register/start",
    body: { user_id: userId, user_name: "x" },
  });

  test.each([
    "a",
    "x".repeat(128),
    "ann@example.org",
    "Ann & Söhne, 東京 🔑",
    "__proto__",
    "constructor",
    "../../etc/passwd",
    "a/b?c=d#e%2f",
    "'; DROP TABLE vault; --",
    " ann",
  ])("a user_id may be %j, and is compared exactly", async (userId) => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    const { id } = await fixture.add(ANN, key, userId);
    expect(await fixture.signIn(STRANGER, key)).toMatchObject({ body: { user_id: userId } });
    expect(await fixture.list(ANN, userId)).toHaveLength(1);
    expect(await fixture.list(ANN, `${userId.slice(0, 100)}!`)).toEqual([]);
    const query = `?user_id=${encodeURIComponent(userId)}`;
    await fixture.call({ method: "DELETE", path: `/api/webauthn/credentials/${id}${query}`, caller: ANN });
    expect(await fixture.secrets.list()).toEqual([]);
  });

  test.each(["", " ", "x".repeat(129), "a\nb", "\u001b[2J", "\u202eann", "\ud800", "\u0000", 5, null, ["ann"], {}])(
    "a user_id is not %j",
    async (userId) => {
      const fixture = await openFixture();
      expect(await refusal(fixture.call({ ...user(userId as string), caller: ANN }))).toBe("BAD_REQUEST");
    },
  );

  test.each(["", " ", "x".repeat(65), "a\nb", "\u001b[31m"])("a passkey's name is not %j", async (name) => {
    const fixture = await openFixture();
    const { id } = await fixture.add(ANN, new SoftAuthenticator());
    const path = `/api/webauthn/credentials/${id}/name`;
    expect(await refusal(fixture.call({ method: "PUT", path, caller: ANN, body: { name } }))).toBe("BAD_REQUEST");
  });

  test("one user_id is not another that looks alike", async () => {
    const fixture = await openFixture();
    // An o with two dots, as one letter and as two.
    await fixture.add(ANN, new SoftAuthenticator(), "bj\u00f6rn");
    expect(await fixture.list(ANN, "bjo\u0308rn")).toEqual([]);
    expect(await fixture.list(ANN, "BJ\u00d6RN")).toEqual([]);
  });
});
