// A secret that somebody wrote into a procedure, or sent with an event, was told to whoever looked at it, and to the model.
import { afterEach, expect, test } from "vitest";
import { type Fixture, fixture, quiet, sop, step } from "./fixture.ts";

const SECRET = "sk-secret";
let made: Fixture;
afterEach(() => made[Symbol.dispose]());

test("no list, no run, no event and no prompt has a secret; what runs work with does", async () => {
  const description = `Asks with ${SECRET}.`;
  const steps = [step(1, { title: `Use ${SECRET}`, body: `It is ${SECRET}.` })];
  made = fixture({
    sops: [sop("a", { mode: "auto", description, steps, instructions: `Never tell ${SECRET}.` })],
    redact: (text) => text.replaceAll(SECRET, "•••"),
  });
  const { sops } = made;
  const { id } = await sops.run("a", JSON.stringify({ key: SECRET }), { by: `device ${SECRET}` });
  await quiet();
  expect(made.turns).toHaveLength(1);
  const told = [sops.list(), sops.show("a"), sops.runs({}, 10), sops.readRun(id), sops.audit.list(10), made.turns];
  expect(JSON.stringify([told, made.events])).not.toContain(SECRET);
  expect(sops.readRun(id).run.payload).toBe('{"key":"•••"}');
  expect(made.store.sopRuns.read(id)!.payload).toBe(JSON.stringify({ key: SECRET }));
});
