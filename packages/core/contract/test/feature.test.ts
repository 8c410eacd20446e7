// Definitions are shared by everyone who composes: one that could be changed after the check would not be what was checked.
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { defineFeature, defineTool } from "../src/index.ts";

describe("defineFeature", () => {
  const make = () =>
    defineFeature({
      id: "channel-probe",
      section: "channels_config.probe",
      config: v.strictObject({ url: v.string() }),
      load: async () => ({ create: ({ config }) => ({ tools: [], shutdown: async () => void config.url }) }),
    });

  test("is frozen: no key can be changed, added or taken away", () => {
    const feature = make();
    expect(Object.isFrozen(feature)).toBe(true);
    expect(() => Object.assign(feature, { id: "other" })).toThrow(TypeError);
    expect(() => Object.assign(feature, { extends: "gateway" })).toThrow(TypeError);
    expect(Reflect.deleteProperty(feature, "config")).toBe(false);
    expect(feature.id).toBe("channel-probe");
  });

  test("evaluates nothing of the feature: its code is loaded by whoever asks for it", () => {
    let loads = 0;
    const feature = defineFeature({ id: "probe", load: async () => ((loads += 1), { create: () => ({}) }) });
    expect(loads).toBe(0);
    expect(feature.section).toBeUndefined();
  });

  test("keeps what it was given", async () => {
    const feature = make();
    expect(feature).toMatchObject({ id: "channel-probe", section: "channels_config.probe" });
    expect(v.safeParse(feature.config!, { url: "x" }).success).toBe(true);
    expect((await feature.load()).create).toBeTypeOf("function");
  });
});

test("defineTool gives back the tool itself", () => {
  const tool = { name: "t", description: "t", input: v.object({}), approval: "auto" as const, run: async () => null };
  expect(defineTool(tool)).toBe(tool);
});
