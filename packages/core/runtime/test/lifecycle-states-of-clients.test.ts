// What a feature holds of a client outlives the client, and what it was constructed with outlives the construction, unless somebody
// sees to both.
import type { ClientId, Contributions, FeatureContext, PerClient, SharedHandle } from "@svc/contract";
import { expect, test } from "vitest";
import { captureLog, feature, lifecycleOf, neverAborted } from "./fake-features.ts";

const [a, b] = ["a", "b"] as unknown as [ClientId, ClientId];
const add = (n: number): number => n + 1;

/** Hands out what each construction asked for. */
function counting() {
  const made: { readonly all: SharedHandle<number>; readonly own: PerClient<number> }[] = [];
  const create = ({ shared, perClient }: FeatureContext): Contributions => {
    made.push({ all: shared("all", 0), own: perClient("own", () => 0) });
    return {};
  };
  return { made, definition: feature("counting", create) };
}

async function running() {
  const { made, definition } = counting();
  const { lifecycle } = lifecycleOf([definition]);
  await lifecycle.construct();
  await lifecycle.register(neverAborted());
  lifecycle.execute();
  const again = () => lifecycle.prepare([{ definition, config: 2 }], () => true, neverAborted());
  return { made, lifecycle, again };
}

test("a construction has state of its own: one that a reload makes begins anew, one that is given up leaves nothing", async () => {
  const { made, again } = await running();
  await made[0]!.all.write(add);
  await (await again()).abandon();
  (await again()).commit();
  const all = await Promise.all(made.map(({ all }) => all.read((n) => n)));
  expect(all).toEqual([1, 0, 0]);
});

test("a client that is gone is forgotten by what is in force and by what a reload replaced and a call may still use", async () => {
  const { made, lifecycle, again } = await running();
  const retire = (await again()).commit();
  for (const { own } of made) for (const id of [a, b]) await own.of(id).write(add);
  lifecycle.forget(a);
  const left = await Promise.all(made.flatMap(({ own }) => [a, b].map((id) => own.of(id).read((n) => n))));
  expect(left).toEqual([0, 1, 0, 1]);
  await retire();
  await lifecycle.shutdown();
});

test("state is asked for in create: later it is refused, and two of one name fail the feature alone", async () => {
  let late: FeatureContext | undefined;
  const twice = feature("twice", ({ shared, perClient }) => {
    shared("same", 1);
    perClient("same", () => 1);
    return {};
  });
  const { log, lines } = captureLog();
  const { lifecycle } = lifecycleOf([twice, feature("late", (context) => ((late = context), {}))], { log });
  await lifecycle.construct();
  await lifecycle.register(neverAborted());
  expect(lifecycle.features()).toMatchObject([
    { id: "twice", state: "failed" },
    { id: "late", state: "running" },
  ]);
  expect(lines).toContainEqual(expect.objectContaining({ reason: 'Two states have the name "same".' }));
  expect(() => late?.shared("more", 1)).toThrow("in create(), and not later");
});
