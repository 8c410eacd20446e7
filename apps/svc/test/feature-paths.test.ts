// What the path of a feature that nobody serves says: why, and what to type, in each of the cases there are.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { homeOf, loadConfig } from "@svc/config";
import type { CatalogueEntry, FeatureDefinition } from "@svc/contract";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as v from "valibot";
import { expect, test } from "vitest";
import { featurePathsOf } from "../src/service/features.ts";

const definition: FeatureDefinition = {
  id: "keys",
  section: "security.keys",
  config: v.strictObject({ enabled: v.optional(v.boolean(), false) }),
  load: () => Promise.reject(new Error("nobody asked for it")),
};

const ENTRY: CatalogueEntry = {
  id: "keys",
  flag: "keys-build",
  kind: "auth",
  summary: "Keys",
  sections: ["security.keys"],
  tools: [],
  ingress: [],
  routes: ["/api/keys", "/api/keys/{id}"],
  open: [],
  commands: [],
  children: [],
  platforms: [],
  native: [],
  included: true,
  planned: false,
  profiles: ["full"],
  build: "npx pnpm build home --with keys-build",
};

async function missing(toml: string, features: readonly FeatureDefinition[], rest: Partial<CatalogueEntry> = {}) {
  using folder = temporaryHome();
  const home = homeOf({ SVC_HOME: folder.path });
  writeFileSync(join(folder.path, "config.toml"), toml, { mode: 0o600 });
  const catalogue = [{ ...ENTRY, included: features.length > 0, ...rest }];
  const config = await loadConfig({ home, env: {}, features, catalogue });
  const paths = featurePathsOf({ catalogue, features }, config);
  expect([...paths.keys()]).toEqual(ENTRY.routes);
  const [one, other] = [...paths.values()];
  expect(other).toEqual(one);
  expect(one?.feature).toBe("keys");
  return one?.missing;
}

test("one that is on has nothing to say: if it leaves a path out, that is nobody's", async () => {
  expect(await missing("[security.keys]\nenabled = true\n", [definition])).toBeUndefined();
});

test.each(["", "[security.keys]\n", "[security.keys]\nenabled = false\n"])(
  "one that is off says how to turn it on: %j",
  async (toml) => {
    expect(await missing(toml, [definition])).toBe(
      "the feature keys is off; set [security.keys] enabled = true in the config, then run: svc reload",
    );
  },
);

test("one that is not in the build says how to build it in", async () => {
  expect(await missing("", [])).toBe(
    "the feature keys is not in this build; build it in with: npx pnpm build home --with keys-build, " +
      "then set [security.keys] enabled = true in the config",
  );
  expect(await missing("", [], { sections: [] })).toBe(
    "the feature keys is not in this build; build it in with: npx pnpm build home --with keys-build",
  );
});

test("one that is not written yet says so", async () => {
  expect(await missing("", [], { planned: true })).toBe(
    "this needs the feature keys, which is planned and not written yet",
  );
});
