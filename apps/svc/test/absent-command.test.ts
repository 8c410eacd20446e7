// A command of a feature that is not in the build must name that feature, also where its package is only planned.
import type { CatalogueEntry } from "@svc/contract";
import { expect, test } from "vitest";
import { absentCommand } from "../src/commands/feature-command.ts";

const entry = (flag: string, more: Partial<CatalogueEntry> = {}): CatalogueEntry => ({
  id: flag,
  flag,
  kind: "hardware",
  summary: flag,
  sections: [],
  tools: [],
  ingress: [],
  routes: [],
  open: [],
  commands: ["boards"],
  children: [],
  platforms: [],
  native: [],
  included: false,
  planned: false,
  profiles: [],
  build: `npx pnpm build home --with ${flag}`,
  ...more,
});

test("a feature that exists and is not in the build says how to build it in", () => {
  expect(absentCommand("boards", [entry("other", { planned: true }), entry("gpio")])).toMatchObject({
    code: "FEATURE_ABSENT",
    message: "This command belongs to the feature gpio, which is not in this build.",
    hint: "Build it in: npx pnpm build home --with gpio",
  });
});

test("a planned feature says that it is not written yet", () => {
  expect(absentCommand("boards", [entry("gpio", { planned: true })])).toMatchObject({
    code: "FEATURE_PLANNED",
    message: "This command belongs to the feature gpio, which is planned and not written yet.",
  });
  const [gpio, again, probe] = [entry("gpio"), entry("gpio"), entry("probe")].map((one) => ({ ...one, planned: true }));
  expect(absentCommand("boards", [gpio!, again!, probe!])?.message).toBe(
    "This command belongs to the features gpio and probe, which are planned and not written yet.",
  );
});

test("a word that no absent feature has is left to the caller", () => {
  expect(absentCommand("boards", [entry("gpio", { included: true })])).toBeUndefined();
  expect(absentCommand("board", [entry("gpio")])).toBeUndefined();
});

test("an action of a word that several features share is told of the feature that brings it", () => {
  const gpio = entry("gpio", { commands: ["hardware discover"], included: true });
  const probe = entry("probe", { commands: ["hardware info"] });
  expect(absentCommand("hardware", [gpio, probe], "info")?.message).toBe(
    "This command belongs to the feature probe, which is not in this build.",
  );
  expect(absentCommand("hardware", [gpio, probe], "discover")).toBeUndefined();
});
