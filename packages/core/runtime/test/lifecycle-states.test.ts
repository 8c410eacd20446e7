// What the page shows of a channel is what was told here: a state of a feature that is not in force, or one that is left
// out, stays there until somebody reloads the page.
import { SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import type { EnabledFeature, FeatureStatus } from "../src/index.ts";
import { settled } from "./fake-clock.ts";
import { feature, lifecycleOf, neverAborted } from "./fake-features.ts";

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const on = (...definitions: ReturnType<typeof feature>[]): EnabledFeature[] =>
  definitions.map((definition) => ({ definition, config: undefined }));

async function running(...definitions: ReturnType<typeof feature>[]) {
  const told: string[] = [];
  const onState = ({ id, state, reason }: FeatureStatus): void =>
    void told.push([id, state, ...(reason === undefined ? [] : [reason])].join(" "));
  const made = lifecycleOf(definitions, { onState });
  await made.lifecycle.construct();
  await made.lifecycle.register(neverAborted());
  made.lifecycle.execute();
  await settled();
  return { ...made, heard: () => told.splice(0) };
}

test("each change is told, with its reason, and nothing is told twice", async () => {
  let fail = (_error: Error): void => {};
  const loop = (): Promise<void> => new Promise((_resolve, reject) => (fail = reject));
  const { lifecycle, clock, heard } = await running(
    feature("a", { run: loop }),
    feature("b", { register: () => Promise.reject(new Error("no key")) }),
  );
  expect(heard()).toEqual(["a running", "b failed no key"].sort());
  fail(new Error("gone"));
  await settled();
  expect(heard()).toEqual(["a waiting gone"]);
  await clock.advance(1_000);
  expect(heard()).toEqual(["a running"]);
  fail(new SvcError("FEATURE_FAILED", "revoked"));
  await settled();
  expect(heard()).toEqual(["a failed revoked"]);
  await lifecycle.shutdown();
  expect(heard()).toEqual([]);
});

test("a reload tells of the new one when it is in force, and not of the end of the old one", async () => {
  const a = feature("a", { run: untilAborted });
  const { lifecycle, heard } = await running(a);
  heard();
  const change = await lifecycle.prepare(on(a), () => true, neverAborted());
  expect(heard()).toEqual([]);
  const retire = change.commit();
  await settled();
  await retire();
  expect(heard()).toEqual(["a running"]);
  await lifecycle.shutdown();
  expect(heard()).toEqual(["a stopped"]);
});

test("one that is switched off has stopped; one that a dropped reload would have brought was never there", async () => {
  const [a, b] = [feature("a", { run: untilAborted }), feature("b", {})];
  const { lifecycle, heard } = await running(a);
  heard();
  await (await lifecycle.prepare(on(a, b), () => false, neverAborted())).abandon();
  expect(heard()).toEqual([]);
  await (await lifecycle.prepare(on(), () => false, neverAborted())).commit()();
  expect(heard()).toEqual(["a stopped"]);
});

test("what went wrong last is remembered when all is well again, and over a reload; it is redacted", async () => {
  let fail = (_error: Error): void => {};
  const loop = (signal: AbortSignal): Promise<void> =>
    Promise.race([untilAborted(signal), new Promise<void>((_resolve, reject) => (fail = reject))]);
  const a = feature("a", { run: loop });
  const { lifecycle, clock } = await running(a);
  const [first] = lifecycle.features();
  expect(first).not.toHaveProperty("lastError");
  fail(new Error("refused Bearer abcdefgh12345678"));
  await settled();
  const at = clock.now();
  const lastError = { reason: expect.stringMatching(/^refused (?!.*abcdefgh)/), at };
  expect(lifecycle.features()).toMatchObject([{ state: "waiting", reason: lastError.reason, lastError }]);
  await clock.advance(1_000);
  expect(lifecycle.features()).toMatchObject([{ state: "running", lastError }]);
  expect(lifecycle.features()[0]).not.toHaveProperty("reason");

  const change = await lifecycle.prepare(on(a), () => true, neverAborted());
  await change.commit()();
  await settled();
  expect(lifecycle.features()).toMatchObject([{ state: "running", lastError }]);
  fail(new Error("gone"));
  await settled();
  expect(lifecycle.features()).toMatchObject([{ lastError: { reason: "gone", at: clock.now() } }]);
  await lifecycle.shutdown();
  expect(lifecycle.features()).toMatchObject([{ state: "stopped", lastError: { reason: "gone" } }]);
});
