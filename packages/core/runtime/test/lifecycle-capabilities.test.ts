// What one feature provides reaches the others while it is in service; what features add to the prompt is kept in the registry.
import { defineCapability, type FeatureContext, provide } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { EnabledFeature } from "../src/index.ts";
import { feature, lifecycleOf, neverAborted } from "./fake-features.ts";

const LAMP = defineCapability<string>("lamp");

/** A feature that looks for lamps when it is asked. */
function seeker() {
  let context: FeatureContext | undefined;
  const seen: (readonly string[])[] = [];
  const definition = feature("seeker", (given) => {
    context = given;
    seen.push(given.capabilities(LAMP));
    return {};
  });
  return { definition, seen, look: () => context!.capabilities(LAMP) };
}

describe("a capability", () => {
  test("is found by other features once all are constructed, and in the registry", async () => {
    const subject = seeker();
    const { lifecycle } = lifecycleOf([subject.definition, feature("lamps", { provides: [provide(LAMP, "desk")] })]);
    await lifecycle.construct();
    expect(subject.seen).toEqual([[]]);
    const registry = await lifecycle.register(neverAborted());
    expect([subject.look(), registry.capabilities(LAMP)]).toEqual([["desk"], ["desk"]]);
    await lifecycle.shutdown();
  });

  test("of a feature that failed is not found", async () => {
    const subject = seeker();
    const broken = { provides: [provide(LAMP, "desk")], register: () => Promise.reject(new Error("no power")) };
    const { lifecycle } = lifecycleOf([feature("lamps", broken), subject.definition]);
    await lifecycle.construct();
    const registry = await lifecycle.register(neverAborted());
    expect([subject.look(), registry.capabilities(LAMP)]).toEqual([[], []]);
    await lifecycle.shutdown();
  });

  test("of a feature that a reload replaced is found from the commit on", async () => {
    const subject = seeker();
    let bulb = 0;
    const lamps = feature("lamps", () => ({ provides: [provide(LAMP, `bulb ${(bulb += 1)}`)] }));
    const enabled: EnabledFeature[] = [lamps, subject.definition].map((definition) => ({
      definition,
      config: undefined,
    }));
    const { lifecycle } = lifecycleOf([lamps, subject.definition], { enabled });
    await lifecycle.construct();
    await lifecycle.register(neverAborted());
    const change = await lifecycle.prepare(enabled, ({ definition }) => definition === lamps, neverAborted());
    expect(subject.look()).toEqual(["bulb 1"]);
    await change.commit()();
    expect(subject.look()).toEqual(["bulb 2"]);
    await lifecycle.shutdown();
  });

  test("with a bad id disables the feature that provides it", async () => {
    const bad = feature("lamps", { provides: [provide(defineCapability<string>("Desk Lamp"), "x")] });
    const { lifecycle } = lifecycleOf([bad]);
    await lifecycle.construct();
    expect(lifecycle.features()).toMatchObject([{ id: "lamps", state: "failed" }]);
  });
});

test("texts for the prompt are in the registry in order, with their features", async () => {
  const { lifecycle } = lifecycleOf([
    feature("a", { promptContext: () => "one" }),
    feature("b", {}),
    feature("c", { promptContext: () => "two" }),
  ]);
  await lifecycle.construct();
  const { promptContexts } = await lifecycle.register(neverAborted());
  expect(promptContexts.map(({ feature: owner, text }) => [owner, text()])).toEqual([
    ["a", "one"],
    ["c", "two"],
  ]);
});

test("two features that offer the same command are a conflict; two actions of one word are not", async () => {
  const commands = (...names: string[]) => ({
    commands: Object.fromEntries(names.map((name) => [name, () => Promise.reject(new Error("not run"))])),
  });
  const apart = lifecycleOf([feature("a", {}, commands("lamp on")), feature("b", {}, commands("lamp off"))]);
  await expect(apart.lifecycle.construct()).resolves.toBeUndefined();
  const clash = lifecycleOf([feature("a", {}, commands("lamp on")), feature("b", {}, commands("lamp on"))]);
  await expect(clash.lifecycle.construct()).rejects.toMatchObject({
    code: "FEATURE_CONFLICT",
    message: expect.stringContaining('command "lamp on" is offered by both feature "a" and feature "b"'),
  });
});
