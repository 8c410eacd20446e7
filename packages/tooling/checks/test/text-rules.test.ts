// Rules about words: brands in the core, what a machine leaves behind.
import { describe, expect, test } from "vitest";
import { leftBehind } from "../src/checks/left-behind.ts";
import { platformWords } from "../src/checks/platform-words.ts";
import { random } from "../src/checks/random.ts";
import { judge } from "./judge.ts";

describe("platform-words", () => {
  test("a brand in the core, in a file's name, in another package: fails", () => {
    expect(judge(platformWords, { "packages/core/agent/src/a.ts": "\nconst x = 'WhatsApp';" })).toEqual([
      'packages/core/agent/src/a.ts:2 The brand "whatsapp" is named outside of channel-provider-a, channel-provider-c, provider-a-web.',
    ]);
    expect(judge(platformWords, { "packages/core/kit/src/telegram-text.ts": "" })).toHaveLength(1);
    expect(judge(platformWords, { "packages/features/channel-provider-b/src/a.ts": "// like nextcloud" })).toHaveLength(
      1,
    );
    expect(judge(platformWords, { "packages/tooling/testkit/src/platforms/provider-b/a.ts": "whatsapp" })).toHaveLength(
      1,
    );
  });

  test("a word in another word is none; in a name with humps it is", () => {
    const found = (text: string) => judge(platformWords, { "packages/core/agent/src/a.ts": text }).length;
    expect(["incomingMail", "INCOMINGMAIL", "conservatism", "diswatit"].map(found)).toEqual([0, 0, 0, 0]);
    expect(["myGmail", "gmailFor", "_gmail", "viaWhatsAppNow", "a-slack-b", "SLACK_TOKEN"].map(found)).toEqual([
      1, 1, 1, 1, 1, 1,
    ]);
  });

  test("its own package, its fake, profiles and pages may say it", () => {
    const say = "whatsapp";
    expect(
      judge(platformWords, {
        "packages/features/channel-provider-a/src/a.ts": say,
        "packages/tooling/testkit/src/platforms/provider-a/server.ts": say,
        "docs/channels/provider-a.md": say,
        "profiles/planned.toml": say,
        "README.md": say,
        "packages/tooling/testkit/vectors/conformance.json": say,
      }),
    ).toEqual([]);
  });
});

describe("left-behind", () => {
  test.each([
    ["const host = 'registry.npmjs.org';", "The host of a package registry."],
    ["const path = '/home/alice/src/x';", "An absolute path of one machine."],
    ["see /Users/bob/x", "An absolute path of one machine."],
    ["cd /root/x", "An absolute path of one machine."],
    ["    resolution: {tarball: https://example.org/x.tgz}", "A download address in a lock file."],
  ])("%s", (text, message) => {
    expect(judge(leftBehind, { "docs/a.md": `\n${text}` })).toEqual([`docs/a.md:2 ${message}`]);
  });

  test("paths that exist on any machine, and examples that say so, pass", () => {
    expect(
      judge(leftBehind, { "docs/a.md": "/etc/hosts /tmp/x /home/you/x ~/x https://example.org/home/page/x" }),
    ).toEqual([]);
  });
});

describe("random", () => {
  test("a token made of Math.random fails; an injected source passes", () => {
    const file = "packages/core/gateway/src/a.ts";
    expect(judge(random, { [file]: "\nconst token = Math.random().toString(36);" })).toEqual([
      `${file}:2 Math.random() is called.`,
    ]);
    expect(judge(random, { [file]: "const wait = (random: () => number = Math.random) => random();" })).toEqual([]);
  });
});
