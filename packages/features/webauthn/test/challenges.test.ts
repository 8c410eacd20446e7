// A challenge counts once, for five minutes, for whom and for what it was issued; floods end nobody's.
import type { ClientId } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { Challenges, type UsedChallenges } from "../src/challenges.ts";
import { ANN, newWorld, openFixture, OPEN, ORIGIN, refusal, STRANGER } from "./fixture.ts";

describe("five minutes", () => {
  test.each([
    ["just in time", 299_999, 0, "taken"],
    ["too late", 300_000, 0, "PASSKEY_EXPIRED"],
    ["too late, by a clock that was set back", 300_000, -86_400_000, "PASSKEY_EXPIRED"],
    ["too late, by a clock that was set on: the machine slept", 1000, 300_000, "PASSKEY_EXPIRED"],
    ["in time, by a clock that was set back a little", 200_000, -3_600_000, "taken"],
  ])("%s", async (_, afterMs, shiftMs, end) => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    await fixture.add(ANN, key);
    const proof = key.get(await fixture.ask(STRANGER), ORIGIN);
    const registration = new SoftAuthenticator().create(await fixture.begin(ANN, "ann"), ORIGIN);
    await fixture.clock.advance(afterMs);
    fixture.clock.setWallClock(fixture.clock.now() + shiftMs);
    expect(await refusal(fixture.answer(STRANGER, proof))).toBe(end);
    expect(await refusal(fixture.finish(ANN, registration))).toBe(end);
  });

  test("what was used stays used, also once it is forgotten", async () => {
    const fixture = await openFixture({ section: OPEN });
    const key = new SoftAuthenticator();
    await fixture.add(ANN, key);
    const proof = key.get(await fixture.ask(STRANGER), ORIGIN);
    await fixture.clock.advance(299_000);
    await fixture.answer(STRANGER, proof);
    for (const ms of [0, 500, 1000, 299_000, 300_000, 86_400_000]) {
      await fixture.clock.advance(ms);
      fixture.clock.setWallClock(Date.UTC(2026, 0, 1));
      expect(await refusal(fixture.answer(STRANGER, proof))).toBe("PASSKEY_EXPIRED");
    }
  });
});

test("one that fails is used up", async () => {
  const fixture = await openFixture({ section: OPEN });
  const key = new SoftAuthenticator();
  await fixture.add(ANN, key);
  const asked = await fixture.ask(STRANGER);
  expect(await refusal(fixture.answer(STRANGER, key.get(asked, ORIGIN, { isVerified: false })))).toBe(
    "PASSKEY_REFUSED",
  );
  expect(await refusal(fixture.answer(STRANGER, key.get(asked, ORIGIN)))).toBe("PASSKEY_EXPIRED");
});

test("one of a registration signs nobody in, and one of a sign-in registers nothing", async () => {
  const fixture = await openFixture({ section: OPEN });
  const key = new SoftAuthenticator();
  await fixture.add(ANN, key);
  const { challenge } = await fixture.begin(ANN, "ann");
  const proof = key.get({ challenge, rpId: "agent.example.org" }, ORIGIN);
  expect(await refusal(fixture.answer(ANN, proof))).toBe("PASSKEY_EXPIRED");
  const creation = { ...(await fixture.begin(ANN, "ann")), challenge: (await fixture.ask(ANN)).challenge };
  expect(await refusal(fixture.finish(ANN, new SoftAuthenticator().create(creation, ORIGIN)))).toBe("PASSKEY_EXPIRED");
});

test("a restart ends what was begun before it, and says to start again", async () => {
  const world = newWorld();
  const fixture = await openFixture({ section: OPEN }, world);
  const key = new SoftAuthenticator();
  await fixture.add(ANN, key);
  const proof = key.get(await fixture.ask(STRANGER), ORIGIN);
  const restarted = await openFixture({ section: OPEN }, world);
  await expect(restarted.answer(STRANGER, proof)).rejects.toMatchObject({
    code: "PASSKEY_EXPIRED",
    message: expect.stringContaining("start again") as string,
  });
});

test("a challenge in other letters that mean the same is the same one", async () => {
  const fixture = await openFixture({ section: OPEN });
  const key = new SoftAuthenticator({ countsBy: 0 });
  await fixture.add(ANN, key);
  const { challenge, ...rest } = await fixture.ask(STRANGER);
  await fixture.answer(STRANGER, key.get({ ...rest, challenge }, ORIGIN));
  for (const other of [`${challenge}=`, ` ${challenge}`, `${challenge}\n`, challenge.replaceAll("-", "+")]) {
    const again = key.get({ ...rest, challenge: other }, ORIGIN);
    expect(await refusal(fixture.answer(STRANGER, again))).toBe("PASSKEY_EXPIRED");
  }
});

describe("how many may come back", () => {
  const make = (limits: { device: number; strangers: number }) => {
    const clock = fakeClock();
    const used = fakeFeatureContext(undefined).shared<UsedChallenges>("used", new Map());
    const challenges = new Challenges(clock, used, limits);
    const redeem = (client?: string) => {
      const of = client as ClientId | undefined;
      const challenge = challenges.issue({ purpose: "auth", client: of, origin: ORIGIN });
      return refusal(challenges.redeem(challenge, "auth", of));
    };
    return { clock, used, redeem };
  };

  test("so many of strangers together, so many of each device, and they don't take from each other", async () => {
    const { clock, redeem } = make({ device: 3, strangers: 5 });
    for (let count = 0; count < 5; count += 1) expect(await redeem()).toBe("taken");
    expect(await redeem()).toBe("RATE_LIMITED");
    for (let count = 0; count < 3; count += 1) expect(await redeem("ann")).toBe("taken");
    expect(await redeem("ann")).toBe("RATE_LIMITED");
    expect(await redeem("ben")).toBe("taken");
    await clock.advance(300_000);
    expect(await redeem()).toBe("taken");
    expect(await redeem("ann")).toBe("taken");
  });

  test("what is remembered goes with its time", async () => {
    const { clock, used, redeem } = make({ device: 1000, strangers: 10_000 });
    for (let count = 0; count < 50; count += 1) await redeem(`device ${count}`);
    await clock.advance(150_000);
    for (let count = 0; count < 50; count += 1) await redeem();
    expect(await used.read((state) => state.size)).toBe(51);
    await clock.advance(200_000);
    await redeem();
    expect(await used.read((state) => [...state].map(([who, nonces]) => [who, nonces.size]))).toEqual([
      [undefined, 51],
    ]);
    await clock.advance(300_000);
    await redeem("ann");
    expect(await used.read((state) => [...state.keys()])).toEqual(["ann"]);
  });
});
