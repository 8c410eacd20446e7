// channelConformance must fail for a channel that breaks a rule: one deliberately broken fake per rule, at least.
import { afterAll, describe, expect, test } from "vitest";
import { type Check, failures } from "../src/check.ts";
import { channelChecks, channelConformance } from "../src/conformance/channel-conformance.ts";
import { temporaryHome } from "../src/temporary-home.ts";
import { BROKEN_ARRIVALS } from "./channel-fakes/broken-arrivals.ts";
import { BROKEN_DRAFTS, BROKEN_MARKS } from "./channel-fakes/broken-drafts.ts";
import { BROKEN_ASIDE, BROKEN_HEALTH } from "./channel-fakes/broken-health.ts";
import { BROKEN_MEDIA } from "./channel-fakes/broken-media.ts";
import { BROKEN_PROMPTS } from "./channel-fakes/broken-prompts.ts";
import { BROKEN_PROOF, BROKEN_SAMPLES } from "./channel-fakes/broken-proof.ts";
import { BROKEN_READING } from "./channel-fakes/broken-reading.ts";
import { BROKEN_SENDING } from "./channel-fakes/broken-sending.ts";
import { BROKEN_TROUBLE } from "./channel-fakes/broken-trouble.ts";
import { fakeChannel } from "./channel-fakes/definition.ts";
import { BROKEN_FORMS, FORM_RULES, formSubject, reading } from "./channel-fakes/form.ts";
import { polling } from "./channel-fakes/polling.ts";
import { type Spoil, without } from "./channel-fakes/spoil.ts";
import { fakeSubject, pollingSubject } from "./channel-fakes/subject.ts";
import { writePackage } from "./feature-package.ts";

const BROKEN = [
  ...BROKEN_SENDING,
  ...BROKEN_HEALTH,
  ...BROKEN_ASIDE,
  ...BROKEN_MEDIA,
  ...BROKEN_PROMPTS,
  ...BROKEN_PROOF,
  ...BROKEN_READING,
  ...BROKEN_SAMPLES,
  ...BROKEN_DRAFTS,
  ...BROKEN_MARKS,
];
const BROKEN_POLLING = [...BROKEN_ARRIVALS, ...BROKEN_TROUBLE];

/** What a package that hands in too little is told. */
const HELD_TO = [
  "the manifest names exactly the paths that the channel takes deliveries on",
  "a channel that fetches files hands in `media`",
  "a channel that posts questions hands in `prompts`",
  "a channel whose messages come in by its `run` hands in `arrivals`",
];

const home = temporaryHome();
afterAll(() => home.remove());
const root = writePackage(home.path, { id: "channel-chat", manifest: { ingress: ["/fake-chat"] } });

const pollingRoot = writePackage(home.path, { id: "channel-polling" });

const checksOf = (spoil?: Spoil, promptMs?: number): Check[] =>
  channelChecks(fakeChannel(spoil), fakeSubject(root), promptMs);
const pollingChecksOf = (spoil: Spoil = polling(), promptMs?: number): Check[] =>
  channelChecks(fakeChannel(spoil), pollingSubject(pollingRoot), promptMs);

/** What hangs is waited for in vain: a fraction of the real time will do, as a slow machine fails here too. */
const SHORT_MS = 250;

// A sound channel breaks no rule.
channelConformance(fakeChannel(), fakeSubject(root));

describe("channelConformance", () => {
  const broken = (checks: readonly Check[], rule: string) => failures(checks.filter(({ name }) => name === rule));
  test.each(BROKEN)("%s: %s", async (_, rule, spoil) => {
    expect(await broken(checksOf(spoil, SHORT_MS), rule)).toMatchObject([{ name: rule }]);
  });
  test.each(BROKEN_POLLING)("polling, %s: %s", async (_, rule, spoil) => {
    expect(await broken(pollingChecksOf(spoil, SHORT_MS / 4), rule)).toMatchObject([{ name: rule }]);
  });

  test.each(BROKEN_FORMS)("forms, %s: %s", async (_, rule, spoil) => {
    const checks = channelChecks(fakeChannel(spoil), formSubject(fakeSubject(root)), SHORT_MS);
    expect(await broken(checks, rule)).toMatchObject([{ name: rule }]);
  });

  test("where the platform posts forms they are asked for, and JSON is not", async () => {
    const checks = channelChecks(fakeChannel(reading()), formSubject(fakeSubject(root)));
    const names = checks.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining([...FORM_RULES]));
    expect(names.filter((name) => name.includes("JSON"))).toEqual([]);
    expect(await failures(checks.filter(({ name }) => FORM_RULES.includes(name) || name.includes("changed")))).toEqual(
      [],
    );
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set([...BROKEN, ...BROKEN_POLLING].map(([, rule]) => rule));
    const names = [...checksOf(), ...pollingChecksOf()].map(({ name }) => name);
    expect(names.filter((name) => !rules.has(name) && !HELD_TO.includes(name))).toEqual([]);
  });
});

// Nor does one without an ingress and without files.
const outgoing: Spoil = (parts) =>
  ({ ...without(parts, "ingress"), channel: without(parts.channel, "media", "prompts") }) as never;
const bare = without(fakeSubject(""), "deliveries", "media", "prompts");
channelConformance(fakeChannel(outgoing), {
  ...bare,
  onlySends: true,
  root: writePackage(home.path, { id: "outgoing" }),
});

// Nor does one that asks for its messages.
channelConformance(fakeChannel(polling()), pollingSubject(pollingRoot));

describe("a channel is held to what it has", () => {
  test("one whose deliveries become notices must take them", async () => {
    const subject = fakeSubject(root);
    const notifying = { ...subject, deliveries: { ...subject.deliveries, notifies: true as const } };
    const names = (await failures(channelChecks(fakeChannel(), notifying))).map(({ name }) => name);
    expect(names).toEqual([
      "onNotice takes whatever was kept, or fails with a code, and ends at once when it is aborted",
      "a message is parsed: its text, who wrote it, where, and when",
    ]);
  });

  test("one with an ingress, with files, or with buttons can't leave out what they are judged by", async () => {
    const names = (await failures(channelChecks(fakeChannel(), { ...bare, root }))).map(({ name }) => name);
    expect(names).toEqual(HELD_TO.slice(0, 3));
  });

  test("nor can one that polls, and the press that its buttons are for", async () => {
    const { arrivals, ...silent } = pollingSubject(pollingRoot);
    const silently = (await failures(channelChecks(fakeChannel(polling()), silent))).map(({ name }) => name);
    expect(silently).toEqual([HELD_TO.at(3)]);
    const pressless = { ...silent, arrivals: without(arrivals!, "press") };
    const failed = await failures(channelChecks(fakeChannel(polling()), pressless));
    expect(failed).toMatchObject([{ error: { message: expect.stringContaining("arrivals.press") } }]);
  });
});
