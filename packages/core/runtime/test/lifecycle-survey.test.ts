// A feature that is made of files too: it is told what is there when it is made, and made anew when that changed.
import type { Json } from "@svc/contract";
import { describe, expect, test } from "vitest";
import type { EnabledFeature } from "../src/index.ts";
import { feature, lifecycleOf, neverAborted } from "./fake-features.ts";

const never = () => false;

/** A feature that keeps what it was made of, and whose files the test decides. */
function surveyed(files: () => Json | Promise<Json>) {
  const made: Json[] = [];
  const seen: unknown[] = [];
  const create = ({ survey }: { survey: Json }) => (made.push(survey), {});
  const survey = async (surroundings: unknown) => (seen.push(surroundings), files());
  const definition = feature("surveyed", {}, { load: () => Promise.resolve({ create, survey }) });
  const enabled: EnabledFeature[] = [{ definition, config: { folder: "plugins" }, homeFolder: "/srv/svc" }];
  return { definition, enabled, made, seen };
}

async function started(subject: ReturnType<typeof surveyed>) {
  const { lifecycle, clock } = lifecycleOf([subject.definition], { enabled: subject.enabled });
  await lifecycle.construct();
  await lifecycle.register(neverAborted());
  return { lifecycle, clock };
}

test("it is handed what it told, and tells it of its config and the home", async () => {
  const subject = surveyed(() => ["a", "b"]);
  const { lifecycle } = await started(subject);
  expect(subject.made).toEqual([["a", "b"]]);
  expect(subject.seen).toEqual([expect.objectContaining({ config: { folder: "plugins" }, homeFolder: "/srv/svc" })]);
  await lifecycle.shutdown();
});

test("one without a survey is handed null", async () => {
  const made: Json[] = [];
  const definition = feature("plain", ({ survey }) => (made.push(survey), {}));
  const { lifecycle } = lifecycleOf([definition]);
  await lifecycle.construct();
  expect(made).toEqual([null]);
});

describe("at a reload", () => {
  test("nothing happens where all is as it was", async () => {
    const subject = surveyed(() => ["a"]);
    const { lifecycle } = await started(subject);
    const change = await lifecycle.prepare(subject.enabled, never, neverAborted());
    expect([change.features, subject.made]).toEqual([[], [["a"]]]);
    await change.abandon();
    await lifecycle.shutdown();
  });

  test("another answer makes it anew, and the one after that is compared with the new one", async () => {
    let files: Json = ["a"];
    const subject = surveyed(() => files);
    const { lifecycle } = await started(subject);
    files = ["a", "b"];
    const change = await lifecycle.prepare(subject.enabled, never, neverAborted());
    expect([change.features, subject.made]).toEqual([["surveyed"], [["a"], ["a", "b"]]]);
    await change.commit()();
    expect((await lifecycle.prepare(subject.enabled, never, neverAborted())).features).toEqual([]);
    await lifecycle.shutdown();
  });

  test("files that can't be read any more refuse the reload; what runs goes on", async () => {
    let isBroken = false;
    const subject = surveyed(() => (isBroken ? Promise.reject(new Error("no such folder")) : ["a"]));
    const { lifecycle } = await started(subject);
    isBroken = true;
    await expect(lifecycle.prepare(subject.enabled, never, neverAborted())).rejects.toMatchObject({
      code: "FEATURE_FAILED",
    });
    expect(lifecycle.stateOf("surveyed")).toBe("running");
    await lifecycle.shutdown();
  });
});

test("a survey that fails disables the feature alone, and one that hangs is given up on", async () => {
  const broken = surveyed(() => Promise.reject(new Error("disk on fire")));
  const { lifecycle } = await started(broken);
  expect(lifecycle.features()).toEqual([expect.objectContaining({ state: "failed" })]);
  const hanging = surveyed(() => new Promise<Json>(() => undefined));
  const { lifecycle: other, clock } = lifecycleOf([hanging.definition], { enabled: hanging.enabled });
  const constructed = other.construct();
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(30_000);
  await constructed;
  expect(other.features()).toEqual([expect.objectContaining({ state: "failed" })]);
});
