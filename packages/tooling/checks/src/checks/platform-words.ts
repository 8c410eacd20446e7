/** The core knows kinds of platforms, not brands: a brand in the core is a special case that the next one will copy. */
import type { Check, Finding } from "../check.ts";

/** A brand and the packages that speak its protocol. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  baileys: ["provider-a-web"],
  dingtalk: ["channel-dingtalk"],
  discord: ["channel-discord"],
  facebook: ["channel-provider-a", "provider-a-web"],
  feishu: ["channel-workchat"],
  gmail: ["channel-mailpush"],
  googleapis: ["channel-mailpush"],
  grammy: ["channel-telegram"],
  imessage: ["channel-provider-b"],
  larksuite: ["channel-workchat"],
  linq: ["channel-provider-b"],
  mattermost: ["channel-mattermost"],
  nextcloud: ["channel-provider-d"],
  nostr: ["channel-relaynet"],
  rocketchat: ["channel-rocketchat"],
  slack: ["channel-slack"],
  telegram: ["channel-telegram"],
  twilio: ["channel-voice-call"],
  wati: ["channel-provider-c"],
  wechat: ["channel-wechat"],
  whatsapp: ["channel-provider-a", "channel-provider-c", "provider-a-web"],
  zulip: ["channel-zulip"],
};

/** Files outside of a platform's own package that may say a brand, and why. */
const EXCEPTIONS: readonly { readonly path: RegExp; readonly words?: readonly string[]; readonly why: string }[] = [
  { path: /^(?:docs|profiles)\//, why: "pages and lists are for people who look for the brand" },
  { path: /^(?:packages\/features\/)?[^/]+\.md$/, why: "pages about the whole repository" },
  { path: /^patches\//, why: "changes of npm packages" },
  {
    path: /^packages\/(?:features|tooling\/testkit\/src\/platforms)\/provider-a-web\//,
    words: ["imessage"],
    why: "an interface of the library is called after its Message",
  },
  {
    path: /^packages\/tooling\/compose\/src\/absent-packages\.ts$/,
    words: ["baileys"],
    why: "names of npm packages",
  },
  {
    path: /^(?:pnpm-(?:lock|workspace)\.yaml|packages\/tooling\/testkit\/package\.json)$/,
    why: "names of npm packages",
  },
  { path: /^packages\/tooling\/checks\//, why: "this list and its tests" },
  {
    path: /^(?:apps\/(?:svc|dashboard)\/test|bench|packages\/tooling)\//,
    words: ["discord", "feishu", "grammy", "slack", "telegram"],
    why: "these channels, or keys of theirs, are called by their brands, and tests and tools use those names",
  },
  {
    path: /^apps\/dashboard\/src\/texts\/settings\//,
    why: "translations of what each platform's own package says of its settings",
  },
  { path: /^packages\/tooling\/testkit\/vectors\//, why: "data copied from the specification" },
];

export const platformWords: Check = {
  id: "platform-words",
  rule: "The brand of a chat platform appears only in that platform's own package and its fake, in profiles/ and in pages.",
  find: (workspace) =>
    [...workspace.files].flatMap(([file, text]) =>
      [file, ...text.split("\n")].flatMap((line, index) =>
        wordsIn(line)
          .filter((word) => !excepted(file, word))
          .map((word) => tell(file, index, word)),
      ),
    ),
};

/** Where a word begins, in a name like `myChat` too: "incomingMail" holds none. */
const PATTERN = new RegExp(`(?<![a-z])(?:${Object.keys(WORDS).join("|")})`, "gi");
const HUMP = new RegExp(
  Object.keys(WORDS)
    .map((word) => `(?<=[a-z])${word[0]?.toUpperCase()}(?i:${word.slice(1)})`)
    .join("|"),
  "g",
);

const wordsIn = (text: string): string[] => [
  ...new Set([...(text.match(PATTERN) ?? []), ...(text.match(HUMP) ?? [])].map((word) => word.toLowerCase())),
];

const excepted = (file: string, word: string): boolean =>
  (WORDS[word] ?? []).flatMap(foldersOf).some((folder) => file.startsWith(folder)) ||
  EXCEPTIONS.some(({ path, words }) => path.test(file) && (words?.includes(word) ?? true));

/** The package, and the fake platform that its tests speak to. */
const foldersOf = (feature: string): string[] => [
  `packages/features/${feature}/`,
  `packages/tooling/testkit/src/platforms/${feature.replace(/^channel-/, "")}/`,
];

/** Line 0 is the file's own name. */
const tell = (file: string, line: number, word: string): Finding => ({
  file,
  ...(line > 0 && { line }),
  message: `The brand "${word}" is named outside of ${(WORDS[word] ?? []).join(", ")}.`,
  fix: "Say what kind of platform it is, or move the code into the platform's package.",
});
