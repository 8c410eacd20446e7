// What a new package will be: every mark of the template filled in, nothing claimed that somebody owns, and a planned
// feature moved out of the plan without touching another line.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Fixture } from "../src/fixture.ts";
import { type Kind, KINDS } from "../src/kinds.ts";
import { planPackage } from "../src/plan.ts";

type PackageKind = Exclude<Kind, "plugin">;
const PACKAGES = KINDS.filter((kind) => kind !== "plugin");

const PLANNED = `# Not written yet.

# Channels

[channel-one]
kind = "channel"
summary = "One"
sections = ["channels_config.one"]

[channel-two]
kind = "channel"
summary = "Two, a good one"
sections = ["channels_config.second"]
native = ["koffi"]
ingress = ["/hooks/two"]

# Tools

[rag-pdf]
kind = "tool"
summary = "Text of PDF files"
tools = ["pdf_read"]

[sandbox-x]
kind = "sandbox"
summary = "X"
`;

const fixture: Fixture = {
  root: "/nowhere",
  features: new Set(["tool-files"]),
  sections: new Map([
    ["gateway", "the core"],
    ["channels_config.one", "the core"],
  ]),
  tools: new Map([["file_read", "tool-files"]]),
  planned: new Map([
    ["channel-one", { kind: "channel", summary: "One", sections: ["channels_config.one"] }],
    [
      "channel-two",
      {
        kind: "channel",
        summary: "Two, a good one",
        sections: ["channels_config.second"],
        native: ["koffi"],
        ingress: ["/hooks/two"],
      },
    ],
    ["rag-pdf", { kind: "tool", summary: "Text of PDF files", tools: ["pdf_read"] }],
    ["sandbox-x", { kind: "sandbox", summary: "X" }],
  ]),
  profiles: new Map([
    ["profiles/full.toml", 'extends = "minimal"\nfeatures = []\nplanned = ["rag-pdf"]\n'],
    [
      "profiles/minimal.toml",
      '# Small.\nfeatures = ["tool-files"]\nplanned = [\n  "channel-one",\n  "channel-two",\n]\n\n[budget]\njs_kb = 1\n',
    ],
    ["profiles/planned.toml", PLANNED],
  ]),
};
const plan = (kind: Kind, name: string) => planPackage({ kind, name, dryRun: false }, fixture);
const manifest = (text: string | undefined): Record<string, unknown> =>
  (JSON.parse(text ?? "{}") as { svc: Record<string, unknown> }).svc;

const FILES: Readonly<Record<PackageKind, readonly string[]>> = {
  feature: ["src/index.ts", "src/word-count.ts", "test/word-count.test.ts"],
  channel: ["src/delivery.ts", "src/index.ts", "src/word-count.ts", "test/platform.ts", "test/word-count.test.ts"],
  tool: ["src/index.ts", "src/word-count.ts", "test/word-count.test.ts"],
};

test.each(PACKAGES)("a %s is a few files without a mark left in them", (kind) => {
  const { id, folder, files, changes } = plan(kind, "word-count");
  expect(id).toBe({ feature: "word-count", channel: "channel-word-count", tool: "tool-word-count" }[kind]);
  expect(folder).toBe(`packages/features/${id}`);
  expect([...files.keys()].toSorted()).toEqual(["README.md", "package.json", ...FILES[kind]]);
  for (const text of files.values()) expect(text).not.toMatch(/__[a-z]+__|\*\*[a-z]+\*\*/);
  expect(files.get("package.json")).toContain(`"@svc/${id}"`);
  expect(files.get("README.md")).toMatch(new RegExp(`^# ${id}\n`));
  expect(files.get("README.md")).toContain("Not in a profile: ");
  expect(changes.size).toBe(0);
});

describe("a plugin", () => {
  const ROOT = join(import.meta.dirname, "../../../..");
  const EXAMPLE = "packages/features/plugins-wasm/examples/word-count";
  const example = (file: string): string => readFileSync(join(ROOT, EXAMPLE, file), "utf8");

  test("is a folder beside the packages, and changes nothing", () => {
    const { folder, files, changes } = plan("plugin", "word-count");
    expect(folder).toBe("plugins/word-count");
    expect([...files.keys()].toSorted()).toEqual([
      "README.md",
      "assembly/host.ts",
      "assembly/plugin.ts",
      "assembly/tsconfig.json",
      "build.mjs",
      "package.json",
      "plugin.toml",
    ]);
    for (const text of files.values()) expect(text).not.toMatch(/__[a-z]+__/);
    expect(files.get("plugin.toml")).toContain('name = "word_count"');
    expect(files.get("README.md")).toContain("`plugin_word_count`");
    expect(changes.size).toBe(0);
  });

  test.each(["build.mjs", "assembly/host.ts", "assembly/tsconfig.json"])("has the example's %s", (file) => {
    expect(plan("plugin", "word-count").files.get(file)).toBe(example(file));
  });

  test("asks for the compiler that this repository builds its own with", () => {
    const { devDependencies } = JSON.parse(plan("plugin", "x").files.get("package.json") ?? "{}") as {
      devDependencies: Record<string, string>;
    };
    const catalog = readFileSync(join(ROOT, "pnpm-workspace.yaml"), "utf8");
    expect(catalog).toContain(`assemblyscript: ${devDependencies["assemblyscript"]}\n`);
  });
});

test("a channel carries its id and its path, in the manifest and in the code", () => {
  const { files } = plan("channel", "word-count");
  expect(manifest(files.get("package.json"))).toMatchObject({ ingress: ["/word-count"] });
  expect(files.get("src/delivery.ts")).toContain('path: "/word-count"');
  expect(files.get("src/delivery.ts")).toContain('channel: "word_count"');
});

test("sections and tools carry the name in the spelling of the config", () => {
  expect(manifest(plan("channel", "word-count").files.get("package.json"))).toMatchObject({
    kind: "channel",
    sections: ["channels_config.word_count"],
  });
  expect(manifest(plan("tool", "word-count").files.get("package.json"))).toMatchObject({ tools: ["word_count"] });
  expect(plan("feature", "word-count").files.get("src/index.ts")).toContain('section: "word_count"');
});

describe("what is taken is refused", () => {
  test.each<[Kind, string, string]>([
    ["tool", "files", "packages/features/tool-files exists already."],
    ["feature", "gateway", "The config section [gateway] is owned by the core."],
    ["tool", "file-read", "The tool file_read is brought by tool-files."],
    ["channel", "rag-pdf", "profiles/planned.toml says rag-pdf is of the kind tool."],
    ["feature", "sandbox-x", "profiles/planned.toml says sandbox-x is of the kind sandbox."],
  ])("%s %s", (kind, name, message) => {
    expect(() => plan(kind, name)).toThrow(message);
  });
});

describe("a planned feature", () => {
  test("takes what is planned of it and moves in the profiles, nothing else changes", () => {
    const { files, changes } = plan("channel", "two");
    expect(manifest(files.get("package.json"))).toMatchObject({
      kind: "channel",
      summary: "Two, a good one",
      sections: ["channels_config.second"],
      native: ["koffi"],
    });
    expect(files.get("src/index.ts")).toContain('section: "channels_config.second"');
    expect(files.get("README.md")).not.toContain("Not in a profile");
    expect(files.get("src/delivery.ts")).toContain('channel: "second"');
    expect(files.get("src/delivery.ts")).toContain('path: "/hooks/two"');
    expect([...changes]).toEqual([
      [
        "profiles/minimal.toml",
        '# Small.\nfeatures = ["channel-two", "tool-files"]\nplanned = ["channel-one"]\n\n[budget]\njs_kb = 1\n',
      ],
      ["profiles/planned.toml", PLANNED.replace(/\[channel-two\][^#]*/, "")],
    ]);
  });

  test("keeps an id without the kind's prefix, and the name of its tool", () => {
    const { id, files } = plan("tool", "rag-pdf");
    expect(id).toBe("rag-pdf");
    expect(files.get("src/rag-pdf.ts")).toContain('name: "pdf_read"');
  });

  test("adds its keys to a section that somebody owns", () => {
    expect(plan("channel", "one").files.get("src/index.ts")).toContain('extends: "channels_config.one"');
  });

  test("is left alone when its profile can't be rewritten without losing a comment", () => {
    const profiles = new Map([["profiles/full.toml", 'features = []\nplanned = [\n  # soon\n  "rag-pdf",\n]\n']]);
    expect(() => planPackage({ kind: "tool", name: "rag-pdf", dryRun: false }, { ...fixture, profiles })).toThrow(
      'profiles/full.toml has more than names in the list "planned".',
    );
  });
});
