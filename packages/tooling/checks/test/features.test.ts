// What the composer reads, and the suites that every feature joins: neither is a choice.
import { describe, expect, test } from "vitest";
import { conformance } from "../src/checks/conformance.ts";
import { manifests } from "../src/checks/manifests.ts";
import { judge, manifestFile } from "./judge.ts";

const folder = "packages/features/tool-a";
const good = { kind: "tool", summary: "Does a thing.", sections: [], tools: ["a"] };

describe("manifests", () => {
  const found = (svc: unknown, files: Readonly<Record<string, string>> = {}): string[] =>
    judge(manifests, {
      [`${folder}/package.json`]: manifestFile("@svc/tool-a", { svc }),
      [`${folder}/README.md`]: "# tool-a\n",
      "profiles/minimal.toml": 'features = ["tool-a"]',
      ...files,
    });

  test("a good one passes", () => {
    expect(found(good)).toEqual([]);
    expect(found({ ...good, ingress: ["/provider-a", "/webhook/mailpush"] })).toEqual([]);
    expect(found({ ...good, routes: ["/api/keys", "/api/keys/{id}"], open: ["/api/keys"] })).toEqual([]);
  });

  test.each([
    [undefined, 'There is no "svc" manifest.'],
    [{ ...good, kind: "gadget" }, "svc.kind must be one of channel, tool,"],
    [{ ...good, summary: " " }, "svc.summary must not be empty."],
    [{ kind: "tool" }, "svc.summary is missing."],
    [{ ...good, tols: [] }, "svc.tols is not a key of a manifest."],
    [{ ...good, platforms: ["beos"] }, "svc.platforms must be linux, darwin or win32."],
    [{ ...good, ingress: ["provider-a"] }, "svc.ingress must be public paths such as /provider-a."],
    [{ ...good, routes: ["/keys"] }, "svc.routes must be paths below /api/."],
    [{ ...good, open: ["/api/keys"] }, "svc.open has /api/keys, which is not one of svc.routes."],
    [{ ...good, id: "tool-b" }, "svc.id is not the folder's name tool-a."],
  ])("%j fails", (svc, message) => {
    expect(found(svc)).toHaveLength(1);
    expect(found(svc)[0]).toContain(message);
  });

  test("a package named otherwise, without a README, or both planned and there fails", () => {
    expect(found(good, { [`${folder}/package.json`]: manifestFile("@svc/other", { svc: good }) })).toEqual([
      `${folder}/package.json:2 The package of ${folder} is not named @svc/tool-a.`,
    ]);
    expect(
      judge(manifests, {
        [`${folder}/package.json`]: manifestFile("@svc/tool-a", { svc: good }),
        "profiles/minimal.toml": 'features = ["tool-a"]',
      }),
    ).toEqual([`${folder}:0 No README.md.`]);
    expect(found(good, { "profiles/planned.toml": '\n[tool-a]\nkind = "tool"' })).toEqual([
      `profiles/planned.toml:2 tool-a is planned, but ${folder} exists.`,
    ]);
  });

  test("a feature that no profile has says why, and only then", () => {
    const excuse = { [`${folder}/README.md`]: "# tool-a\n\nNot in a profile: needs a radio.\n" };
    const none = { "profiles/minimal.toml": "features = []" };
    expect(found(good, none)).toEqual([`${folder}/package.json:3 No profile has tool-a.`]);
    expect(found(good, { ...none, ...excuse })).toEqual([]);
    expect(found(good, excuse)).toEqual([
      `${folder}/package.json:3 A profile has tool-a; its README says that none does.`,
    ]);
  });
});

describe("conformance", () => {
  const testkit = {
    "packages/tooling/testkit/src/a.ts":
      "export function featureConformance() {}\nexport function toolConformance() {}\nexport function channelConformance() {}",
  };
  const found = (svc: unknown, text: string): string[] =>
    judge(conformance, {
      ...testkit,
      [`${folder}/package.json`]: manifestFile("@svc/tool-a", { svc }),
      [`${folder}/test/a.test.ts`]: text,
    });
  const both =
    'import { featureConformance, toolConformance } from "@svc/testkit";\nfeatureConformance(x);\ntoolConformance(x);';

  test("a feature that joins its suites passes", () => {
    expect(found(good, both)).toEqual([]);
  });

  test("importing without calling, or calling something else of that name, is not joining", () => {
    expect(found(good, 'import { featureConformance, toolConformance } from "@svc/testkit";')).toEqual([
      `${folder}/test:0 No test calls featureConformance.`,
      `${folder}/test:0 No test calls toolConformance.`,
    ]);
    expect(
      found(
        good,
        "const featureConformance = () => {};\nfeatureConformance();\nfunction toolConformance() {}\ntoolConformance();",
      ),
    ).toHaveLength(2);
  });

  test("a channel needs the channels' suite; a channel with tools the tools' as well", () => {
    expect(found({ ...good, kind: "channel" }, both)).toEqual([`${folder}/test:0 No test calls channelConformance.`]);
    const channelOnly = both.replaceAll("toolConformance", "channelConformance");
    expect(found({ ...good, kind: "channel" }, channelOnly)).toEqual([
      `${folder}/test:0 No test calls toolConformance.`,
    ]);
  });

  test("a kind without a suite yet needs featureConformance alone", () => {
    expect(found({ ...good, kind: "sandbox", tools: [] }, both)).toEqual([]);
  });
});
