// The proof from the metafile: a package that got in without being in the profile, tooling, test code, a dependency
// that only tests declare, a missing feature or a heavy library before --version stops the build and says who imported it.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { bundle } from "../src/bundle.ts";
import { generate, readCatalogue, resolveProfile, type Request } from "../src/index.ts";
import { locateNatives } from "../src/native.ts";
import { prove, type Proof } from "../src/prove.ts";
import { makeWorkspace, type Workspace } from "./fixture/workspace.ts";

async function proveWith(arrange: (small: Workspace) => void, request: Partial<Request> = {}): Promise<Proof> {
  using small = makeWorkspace();
  small.profile("minimal", 'summary = ""\nfeatures = ["tool-a"]');
  small.feature("tool-a");
  small.feature("tool-b");
  arrange(small);
  const catalogue = readCatalogue(small.root);
  const selection = resolveProfile(catalogue, { profile: "minimal", ...request });
  const { entry } = generate(catalogue, selection, "unknown");
  const natives = await locateNatives(small.root, selection.features, selection.target);
  return prove(
    small.root,
    selection,
    await bundle(small.root, entry, selection.features, natives, `${small.root}/out`),
  );
}

async function refusal(arrange: (small: Workspace) => void, request?: Partial<Request>): Promise<SvcError> {
  const outcome = await proveWith(arrange, request).catch((error: unknown) => error);
  if (outcome instanceof SvcError) return outcome;
  throw new Error("was not refused");
}

describe("prove", () => {
  test("a clean bundle holds the profile's features and nothing else", async () => {
    const proof = await proveWith(() => {});
    expect(proof).toMatchObject({ features: ["tool-a"], core: [] });
    expect(proof.entryBytes).toBeGreaterThan(100);
  });

  test.each([
    ["another feature, by a path", 'import "../../tool-b/src/index.ts";', "tool-b is not in the profile"],
    ["another feature, lazily", 'void import("../../tool-b/src/work.js");', "tool-b is not in the profile"],
    ["tooling", 'import "../../../tooling/spy/src/index.ts";', "spy is tooling and belongs in no binary"],
    ["test code", 'import "../test/fake.ts";', "test code"],
    ["a file of no package", 'import "../../../../stray.ts";', "a file of no package"],
    ["a dependency nobody declared", 'import "sneaky";', "sneaky is not in the dependencies of @svc/tool-a"],
  ])("%s", async (_name, code, sentence) => {
    const error = await refusal((small) => {
      small.feature("tool-a", { code, packageJson: { devDependencies: { sneaky: "1.0.0" } } });
      small.write("packages/tooling/spy/src/index.ts", "console.log(1);");
      small.write("packages/features/tool-a/test/fake.ts", "console.log(2);");
      small.write("stray.ts", "console.log(3);");
      small.write("node_modules/sneaky/package.json", '{"name":"sneaky","main":"index.js"}');
      small.write("node_modules/sneaky/index.js", "console.log(4);");
    });
    expect(error).toMatchObject({ code: "BUNDLE_UNPROVEN", exitCode: 70 });
    expect(error.message).toContain(sentence);
    expect(error.message).toContain("apps/svc/.gen/minimal/entry.ts → apps/svc/.gen/minimal/features.ts → ");
  });

  test("a declared dependency is fine", async () => {
    const proof = await proveWith((small) => {
      small.feature("tool-a", { code: 'import "fair";', packageJson: { dependencies: { fair: "1.0.0" } } });
      small.write("node_modules/fair/package.json", '{"name":"fair","main":"index.js"}');
      small.write("node_modules/fair/index.js", "console.log(4);");
    });
    expect(proof.features).toEqual(["tool-a"]);
  });

  test("a heavy library or a feature before --version", async () => {
    const app = (line: string) => (small: Workspace) => {
      small.write("node_modules/hono/package.json", '{"name":"hono","main":"index.js"}');
      small.write("node_modules/hono/index.js", "console.log(4);");
      small.write("apps/svc/package.json", '{"name":"@svc/app","version":"1.0.0","dependencies":{"hono":"1"}}');
      small.write(
        "apps/svc/src/main.ts",
        `${line}\nexport const main = async (build: any) => console.log(await build.load());`,
      );
    };
    const heavy = await refusal(app('import "hono";'));
    expect(heavy.message).toContain("hono is evaluated before --version can answer");
    const early = await refusal(app('import "../.gen/minimal/features.ts";'));
    expect(early.message).toContain("a feature is evaluated before --version can answer");
    const lazy = await proveWith(app('export const later = () => import("hono");'));
    expect(lazy.features).toEqual(["tool-a"]);
  });

  test("a feature of the profile that is not in the bundle", async () => {
    using small = makeWorkspace();
    small.profile("minimal", 'summary = ""\nfeatures = ["tool-a"]');
    small.feature("tool-a");
    const catalogue = readCatalogue(small.root);
    const selection = resolveProfile(catalogue, { profile: "minimal" });
    const { entry, features } = generate(catalogue, selection, "unknown");
    small.write(features.slice(small.root.length), "export const composition = { features: [] };");
    const bundled = await bundle(small.root, entry, [], [], `${small.root}/out`);
    expect(() => prove(small.root, selection, bundled)).toThrow(
      "tool-a is in the profile and nothing of it in the bundle",
    );
  });

  test("a source that can't be bundled is told by file, line and column", async () => {
    const error = await refusal((small) => small.feature("tool-a", { code: '\nimport "not-installed";' }));
    expect(error).toMatchObject({ code: "BUNDLE_FAILED", exitCode: 65 });
    expect(error.message).toContain('packages/features/tool-a/src/work.js:2:8 Could not resolve "not-installed"');
  });

  test("a stranger's own copy of the contract is not bundled; its own valibot is", async () => {
    const proof = await proveWith(
      (small) => {
        const code = 'import "@svc/contract"; import * as v from "valibot"; console.log(v.mine);';
        small.stranger("node_modules/@acme/svc-foo", "@acme/svc-foo", { code });
        const own = "node_modules/@acme/svc-foo/node_modules";
        small.write(`${own}/@svc/contract/package.json`, '{"name":"@svc/contract","main":"index.js"}');
        small.write(`${own}/@svc/contract/index.js`, "console.log(5);");
        small.write(`${own}/valibot/package.json`, '{"name":"valibot","main":"index.js","type":"module"}');
        small.write(`${own}/valibot/index.js`, "export const mine = 6;");
      },
      { with: ["@acme/svc-foo"] },
    );
    expect(proof).toMatchObject({ features: ["foo", "tool-a"], core: ["contract"] });
  });
});

describe("native addons", () => {
  const needs = (small: Workspace): void => small.feature("tool-a", { svc: { native: ["addon"] } });

  test("one that is not installed fails the build with the feature and the reason", async () => {
    const error = await refusal(needs);
    expect(error).toMatchObject({ code: "NATIVE_MISSING", exitCode: 69 });
    expect(error.message).toContain("tool-a needs addon: the package is not installed");
  });

  test("one that was not compiled fails too", async () => {
    const error = await refusal((small) => {
      needs(small);
      small.write("node_modules/addon/package.json", '{"name":"addon","main":"index.js"}');
    });
    expect(error.message).toContain("tool-a needs addon: there is no .node file for");
  });
});
