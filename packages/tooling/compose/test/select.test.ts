// What a request for a build means, and that every way to ask wrongly is told with the word that was wrong, the near
// one and the list. A planned feature is never silently left out of what somebody asked for.
import { SvcError } from "@svc/contract";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCatalogue, resolveProfile, targetOf, type Request, type Selection } from "../src/index.ts";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

const PLANNED = `
[channel-later]
kind = "channel"
summary = "Comes later"
[board-later]
flag = "hardware"
kind = "hardware"
summary = "Comes later too"
`;

describe("resolveProfile", () => {
  let small: Workspace;

  beforeAll(() => {
    small = makeWorkspace(PLANNED);
    small.feature("tool-a");
    small.feature("tool-b");
    small.feature("board-one", { svc: { flag: "hardware", kind: "hardware" } });
    small.feature("board-probe", { svc: { kind: "hardware", needs: ["board-one"] } });
    small.feature("mac-only", { svc: { platforms: ["darwin"] } });
    small.profile(
      "minimal",
      'summary = ""\nfeatures = ["tool-b", "tool-a"]\nplanned = ["channel-later"]\n[budget]\njs_kb = 10\nbinary_mb = 1',
    );
    small.profile(
      "full",
      'summary = ""\nextends = "minimal"\nfeatures = ["board-one", "mac-only"]\n[budget]\nbinary_mb = 2',
    );
    small.profile("probing", 'summary = ""\nfeatures = ["board-one", "board-probe", "tool-a"]');
    small.stranger("node_modules/@acme/svc-foo", "@acme/svc-foo");
    small.stranger("node_modules/svc-plain", "svc-plain");
    small.stranger("elsewhere/bar", "bar");
    small.stranger("elsewhere/thief", "@acme/svc-tool-a");
  });

  afterAll(() => small[Symbol.dispose]());

  const select = (request: Partial<Request> = {}): Selection =>
    resolveProfile(readCatalogue(small.root), { profile: "minimal", target: targetOf("linux-x64"), ...request });
  const ids = (selection: Selection): string[] => selection.features.map(({ manifest }) => manifest.id);
  const refusal = (request: Partial<Request>): SvcError => {
    try {
      select(request);
    } catch (error) {
      if (error instanceof SvcError) return error;
    }
    throw new Error("was not refused");
  };

  test("a profile has its ancestors' features, in the order of their ids, and the nearest budget", () => {
    const selection = select({ profile: "full" });
    expect(ids(selection)).toEqual(["board-one", "tool-a", "tool-b"]);
    expect(selection).toMatchObject({ name: "full", planned: ["channel-later"], budget: { js_kb: 10, binary_mb: 2 } });
  });

  test("a profile's feature of another platform is skipped and said; one that was asked for is refused", () => {
    expect(select({ profile: "full" })).toMatchObject({ skipped: ["mac-only"], notes: ["not for linux: mac-only"] });
    expect(ids(select({ profile: "full", target: targetOf("darwin-arm64") }))).toContain("mac-only");
    expect(refusal({ with: ["mac-only"] })).toMatchObject({ code: "FEATURE_PLATFORM", exitCode: 78 });
  });

  test("adds what an added feature needs", () => {
    expect(ids(select({ with: ["board-probe"] }))).toEqual(["board-one", "board-probe", "tool-a", "tool-b"]);
  });

  test("takes away what needs a feature that was taken away, and refuses it where it was asked for", () => {
    const selection = select({ profile: "probing", without: ["hardware"] });
    expect(ids(selection)).toEqual(["tool-a"]);
    expect(selection.removed).toEqual(["board-one", "board-probe"]);
    expect(selection.notes).toContain("left out: board-probe, which needs board-one");
    expect(refusal({ with: ["board-probe"], without: ["hardware"] })).toMatchObject({
      code: "USAGE",
      message: "--with board-probe needs board-one, which --without takes away.",
    });
  });

  test("adding or taking away makes it custom; asking for what is in already does not", () => {
    expect(select({ with: ["tool-a"] })).toMatchObject({ name: "minimal", added: [] });
    expect(select({ without: ["tool-a"] })).toMatchObject({ name: "custom", removed: ["tool-a"] });
    expect(select({ without: ["tool-a"] }).budget).toEqual({ js_kb: 10, binary_mb: 1 });
    expect(select({ with: ["board-one"] }).budget).toEqual({});
    expect(ids(select({ with: ["board-one"], without: ["tool-a"] }))).toEqual(["board-one", "tool-b"]);
  });

  test("a flag names all its packages; those that are not written yet are said", () => {
    const selection = select({ with: ["hardware"] });
    expect(ids(selection)).toContain("board-one");
    expect(selection.planned).toContain("board-later");
    expect(selection.notes).toEqual(["hardware: not written yet: board-later"]);
    expect(ids(select({ profile: "full", without: ["hardware"] }))).not.toContain("board-one");
  });

  test("a planned feature is refused as planned when it is asked for, and may be left out", () => {
    const error = refusal({ with: ["channel-later"] });
    expect(error).toMatchObject({ code: "FEATURE_PLANNED", exitCode: 78 });
    expect(error.message).toContain("It will be in: minimal, full.");
    expect(select({ without: ["channel-later"] })).toMatchObject({ planned: [], removed: ["channel-later"] });
  });

  test("an npm package at the root and a folder are features too", () => {
    const selection = select({ with: ["@acme/svc-foo", "svc-plain", "./elsewhere/bar"], cwd: small.root });
    expect(ids(selection)).toEqual(["bar", "foo", "plain", "tool-a", "tool-b"]);
    expect(selection.features.find(({ external }) => external)?.packageName).toBe("bar");
  });

  test("a stranger can't take the name of a known feature", () => {
    const error = refusal({ with: ["./elsewhere/thief"], without: ["tool-a"], cwd: small.root });
    expect(error).toMatchObject({ code: "MANIFEST_INVALID", exitCode: 65 });
    expect(error.message).toContain('"tool-a", which is taken');
  });

  test.each([
    [{ profile: "minimul" }, 'no profile "minimul". Did you mean "minimal"?'],
    [{ with: ["tool-aa"] }, 'no feature "tool-aa". Did you mean "tool-a"?'],
    [{ without: ["tool-bb"] }, 'no feature "tool-bb". Did you mean "tool-b"?'],
    [{ without: ["board-one"] }, '"board-one" is not in minimal'],
    [{ with: ["./nowhere"] }, "./nowhere: there is no package in"],
    [{ with: ["../../../etc"] }, "there is no package in"],
    [{ with: ["something entirely different"] }, 'there is no feature "something entirely different".'],
  ])("%j is a wrong argument", (request, sentence) => {
    const error = refusal(request);
    expect(error).toMatchObject({ code: "USAGE", exitCode: 64 });
    expect(error.message).toContain(sentence);
    expect(error.hint).toBeTruthy();
  });
});
