// The catalogue ships in every binary, so a wrong manifest or a profile that disagrees with the packages must stop the
// build and name every problem, and this repository's own files must pass.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { profilesOf, readCatalogue, resolveProfile, targetOf } from "../src/index.ts";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

function refusal(arrange: (small: Workspace) => void, planned = ""): SvcError {
  using small = makeWorkspace(planned);
  small.profile("minimal", 'summary = ""');
  arrange(small);
  try {
    const catalogue = readCatalogue(small.root);
    for (const profile of catalogue.profiles.keys()) resolveProfile(catalogue, { profile });
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
  throw new Error("was not refused");
}

const LATER = '[later]\nkind = "tool"\nsummary = "Later"\n';

describe("readCatalogue", () => {
  test("this repository: every flag of the specification exists or is planned, in the profiles it says", () => {
    const catalogue = readCatalogue();
    const manifests = [
      ...[...catalogue.features.values()].map(({ manifest }) => manifest),
      ...catalogue.planned.values(),
    ];
    const flags = new Set(manifests.map(({ flag }) => flag));
    const specified = (
      "channel-federated channel-workchat channel-relaynet provider-a-web voice-wake hardware " +
      "peripheral-sbc probe safety rag-pdf browser-native observability-metrics " +
      "observability-otel plugins-wasm webauthn sandbox-userns sandbox-fsrestrict"
    ).split(" ");
    expect(specified.filter((flag) => !flags.has(flag))).toEqual([]);
    expect([...catalogue.profiles.keys()]).toEqual(["minimal", "home", "standard", "full", "all"]);
    const profilesOfFlag = (flag: string): string[][] =>
      manifests.filter((manifest) => manifest.flag === flag).map(({ id }) => profilesOf(catalogue, id));
    expect(profilesOfFlag("channel-workchat")).toEqual([["standard", "full", "all"]]);
    expect(profilesOfFlag("hardware")).toEqual([
      ["full", "all"],
      ["full", "all"],
      ["full", "all"],
      ["full", "all"],
    ]);
    expect(profilesOfFlag("sandbox-userns")).toEqual([["all"]]);
    expect(profilesOfFlag("tool-files")).toEqual([["minimal", "home", "standard", "full", "all"]]);
    expect(profilesOfFlag("webauthn")).toEqual([["home", "all"]]);
    expect(profilesOfFlag("sandbox-fsrestrict")).toEqual([["home", "all"]]);
    expect(profilesOfFlag("rag-pdf")).toEqual([["home", "full", "all"]]);
  });

  test("this repository: each profile resolves for each target", () => {
    const catalogue = readCatalogue();
    for (const profile of catalogue.profiles.keys()) {
      for (const target of ["linux-x64", "linux-arm64", "darwin-arm64", "win-x64"].map(targetOf)) {
        expect(resolveProfile(catalogue, { profile, target }).name).toBe(profile);
      }
    }
  });

  test("all problems of a manifest are told at once, and no value is quoted", () => {
    const error = refusal((small) =>
      small.feature("tool-a", { svc: { kind: "s3cret", summary: " ", tools: ["S3cret Tool"], sektions: [] } }),
    );
    expect(error).toMatchObject({ code: "MANIFEST_INVALID", exitCode: 65 });
    for (const part of [
      "svc.kind: must be",
      "svc.summary: must be",
      "svc.tools.0: must be",
      "svc.sektions: unknown key",
    ]) {
      expect(error.message).toContain(part);
    }
    expect(error.message).not.toMatch(/s3cret/i);
  });

  test("a package without a manifest, with another name, or that is not JSON, is refused", () => {
    const packageJson = (text: string) => (small: Workspace) =>
      small.write("packages/features/tool-a/package.json", text);
    expect(refusal(packageJson('{"name":"@svc/tool-a"}')).message).toContain("svc: missing");
    expect(refusal(packageJson("{")).message).toContain("can't be read as JSON");
    const other = '{"name":"@svc/tool-b","svc":{"kind":"tool","summary":"x"}}';
    expect(refusal(packageJson(other)).message).toContain("name: must be @svc/tool-a");
    const taken = '{"name":"@svc/tool-a","svc":{"kind":"tool","summary":"x","tools":["plugin_weather"]}}';
    expect(refusal(packageJson(taken)).message).toContain("svc.tools.0: must be");
    const id = '{"name":"@svc/tool-a","svc":{"id":"tool-b","kind":"tool","summary":"x"}}';
    expect(refusal(packageJson(id)).message).toContain("svc.id: must be the folder's name");
  });

  test("no id is both planned and existing", () => {
    const error = refusal((small) => small.feature("later"), LATER);
    expect(error).toMatchObject({ code: "PROFILE_INVALID", exitCode: 78 });
    expect(error.message).toBe("Both planned and existing: later.");
  });

  test("a profile that disagrees with the packages is refused, every line of it", () => {
    const error = refusal((small) => {
      small.feature("tool-a");
      small.profile("minimal", 'summary = ""\nfeatures = ["later"]\nplanned = ["tool-a", "unheard-of"]');
    }, LATER);
    expect(error.code).toBe("PROFILE_INVALID");
    expect(error.message).toContain("planned: tool-a exists now");
    expect(error.message).toContain("planned: unheard-of has no table");
    expect(error.message).toContain("features: later is not written yet");
  });

  test.each([
    ["summary = ", /minimal\.toml:1 is not valid TOML/],
    ['summary = ""\nfeature = []', /feature: unknown key/],
    ['summary = ""\n[budget]\nbinary_mb = 0', /budget\.binary_mb: must be at least 1/],
    ["features = []", /summary: missing/],
    ['summary = ""\nextends = "maximal"', /extends an unknown profile/],
    ['summary = ""\nextends = "minimal"', /extends itself/],
    ['summary = ""\nfeatures = ["tool-x"]', /features: no package "tool-x"/],
  ])("the profile %j is refused", (toml, sentence) => {
    const error = refusal((small) => small.profile("minimal", toml));
    expect(error).toMatchObject({ code: "PROFILE_INVALID", exitCode: 78 });
    expect(error.message).toMatch(sentence);
  });

  test("a profile can't take a name that dist/ uses for something else", () => {
    expect(refusal((small) => small.profile("custom", 'summary = ""')).message).toContain('"custom"');
  });
});
