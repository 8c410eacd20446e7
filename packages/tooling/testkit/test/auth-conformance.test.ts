// authConformance must fail for a feature that breaks a rule: one deliberately broken fake per rule.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authChecks, type AuthSubject } from "../src/conformance/auth-conformance.ts";
import { temporaryHome, type TemporaryHome } from "../src/temporary-home.ts";
import { fakeAuth, type Flaw, macOf } from "./auth-fakes/card.ts";
import { brokenRules } from "./broken-names.ts";
import { writePackage } from "./feature-package.ts";

let home: TemporaryHome;
let root = "";
beforeAll(() => {
  home = temporaryHome();
  const routes = ["enrol", "enrolled", "begin", "prove", "cards"].map((name) => `/api/card/${name}`);
  const manifest = { kind: "auth", sections: ["security.card"], routes, open: ["/api/card/begin", "/api/card/prove"] };
  root = writePackage(home.path, { id: "card", manifest });
});
afterAll(() => home.remove());

interface Person {
  readonly card: string;
  readonly key: string;
}

const nonceOf = (started: unknown): string => (started as { nonce: string }).nonce;

const subject = (): AuthSubject<Person> => ({
  root,
  config: {},
  openConfig: { sign_in: true },
  person: () => ({ card: randomBytes(6).toString("hex"), key: randomBytes(24).toString("base64url") }),
  enrol: {
    start: { path: "/api/card/enrol", body: () => ({}) },
    finish: { path: "/api/card/enrolled", body: ({ card, key }, started) => ({ nonce: nonceOf(started), card, key }) },
  },
  signIn: {
    start: { path: "/api/card/begin", body: () => ({}) },
    finish: {
      path: "/api/card/prove",
      body: ({ card, key }, started) => ({ nonce: nonceOf(started), card, mac: macOf(key, nonceOf(started)) }),
    },
  },
  secretsOf: ({ key }) => [key],
});

const BROKEN: readonly (readonly [flaw: Flaw, rule: string])[] = [
  ["a path that is not in the manifest", "it serves the paths that its manifest lists, and no others"],
  ["a path that is only in the manifest", "it serves the paths that its manifest lists, and no others"],
  ["open without being told to", "nothing is open that its section does not open"],
  ["closed although told to be open", "what its section opens is what its manifest lists as open"],
  ["words that are no sentence", "every route says what it takes, what it answers and what it refuses"],
  ["signs in as whoever enrolled first", "a stranger with a proof is signed in as its device"],
  ["signs in unasked", "nobody is signed in where the section does not ask for it"],
  ["takes others' cards for one's own", "where nobody is signed in, a device proves only what is its own"],
  ["takes cards that nobody has enrolled", "a person who has not enrolled is refused"],
  ["takes a proof again", "a proof counts once, over a restart too"],
  ["takes a proof again after a restart", "a proof counts once, over a restart too"],
  ["looks, waits, and only then notes that a proof was used", "of two that come at once with one proof, one is taken"],
  ["takes an enrolment again", "an enrolment counts once"],
  ["does not look who began", "what was begun by one is not ended by another"],
  ["does not look what was begun", "what was begun as an enrolment is not ended as a sign-in, nor the other way round"],
  ["takes what is old", "what comes an hour later is refused, also when the clock was set back meanwhile"],
  [
    "takes what is old by a clock that was set back",
    "what comes an hour later is refused, also when the clock was set back meanwhile",
  ],
  ["keeps cards in memory", "who has enrolled signs in after a restart"],
  ["takes the cards of a revoked device", "a revoked device is nobody any more, and nothing of it is kept"],
  ["keeps the cards of a revoked device", "a revoked device is nobody any more, and nothing of it is kept"],
  [
    "forgets what was begun when many begin",
    "thousands of strangers who begin end nobody else's sign-in, and leave nothing",
  ],
  ["keeps what strangers begin", "thousands of strangers who begin end nobody else's sign-in, and leave nothing"],
  ["believes what it did not check", "no altered answer signs in another person, and none is an internal error"],
  ["breaks on odd proofs", "no altered answer signs in another person, and none is an internal error"],
  ["breaks on odd enrolments", "no altered enrolment is a fault of ours"],
  ["tells the key", "its secrets stand in no answer and in no line of the log"],
  ["logs the key", "its secrets stand in no answer and in no line of the log"],
];

describe("authConformance", () => {
  test("a sound feature breaks no rule", async () => {
    expect(await brokenRules(authChecks(fakeAuth(), subject()))).toEqual([]);
  });

  // Of the suite that rule alone: ten thousand strangers come into each of its runs.
  test.each(BROKEN)("one that %s", async (flaw, rule) => {
    const checks = authChecks(fakeAuth(flaw), subject()).filter(({ name }) => name === rule);
    expect(await brokenRules(checks)).toEqual([rule]);
  });

  test("one whose secrets nobody told", async () => {
    const rule = "its secrets stand in no answer and in no line of the log";
    const checks = authChecks(fakeAuth(), { ...subject(), secretsOf: () => [] }).filter(({ name }) => name === rule);
    expect(await brokenRules(checks)).toEqual([rule]);
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set(BROKEN.map(([, rule]) => rule));
    expect(
      authChecks(fakeAuth(), subject())
        .map(({ name }) => name)
        .filter((name) => !rules.has(name)),
    ).toEqual([]);
  });
});
