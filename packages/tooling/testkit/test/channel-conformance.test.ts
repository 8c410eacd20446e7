// channelConformance must fail for a channel that breaks a rule: one deliberately broken fake per rule, at least.
import { afterAll, describe, expect, test } from "vitest";
import { channelChecks, channelConformance, type Check, failures, temporaryHome } from "../src/index.ts";
import { BROKEN_ASIDE, BROKEN_HEALTH } from "./channel-fakes/broken-health.ts";
import { BROKEN_MEDIA } from "./channel-fakes/broken-media.ts";
import { BROKEN_PROMPTS } from "./channel-fakes/broken-prompts.ts";
import { BROKEN_PROOF, BROKEN_SAMPLES } from "./channel-fakes/broken-proof.ts";
import { BROKEN_READING } from "./channel-fakes/broken-reading.ts";
import { BROKEN_SENDING } from "./channel-fakes/broken-sending.ts";
import { fakeChannel } from "./channel-fakes/definition.ts";
import { type Spoil, without } from "./channel-fakes/spoil.ts";
import { fakeSubject } from "./channel-fakes/subject.ts";
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
];

const home = temporaryHome();
afterAll(() => home.remove());
const root = writePackage(home.path, { id: "channel-chat", manifest: { ingress: ["/fake-chat"] } });

const checksOf = (spoil?: Spoil, promptMs?: number): Check[] =>
  channelChecks(fakeChannel(spoil), fakeSubject(root), promptMs);

/** What hangs is waited for in vain: a fraction of the real time will do, as a slow machine fails here too. */
const SHORT_MS = 250;

// A sound channel breaks no rule.
channelConformance(fakeChannel(), fakeSubject(root));

describe("channelConformance", () => {
  test.each(BROKEN)("%s: %s", async (_, rule, spoil) => {
    const check = checksOf(spoil, SHORT_MS).find(({ name }) => name === rule);
    expect(await failures(check ? [check] : [])).toMatchObject([{ name: rule }]);
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set(BROKEN.map(([, rule]) => rule));
    expect(
      checksOf()
        .map(({ name }) => name)
        .filter((name) => !rules.has(name)),
    ).toEqual([]);
  });
});

// Nor does one without an ingress and without files.
const outgoing: Spoil = (parts) =>
  ({ ...without(parts, "ingress"), channel: without(parts.channel, "media", "prompts") }) as never;
const bare = without(fakeSubject(""), "deliveries", "media", "prompts");
channelConformance(fakeChannel(outgoing), { ...bare, root: writePackage(home.path, { id: "outgoing" }) });

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
    expect(names).toEqual([
      "the manifest names exactly the paths that the channel takes deliveries on",
      "a channel that fetches files hands in `media`",
      "a channel that posts questions hands in `prompts`",
    ]);
  });
});
