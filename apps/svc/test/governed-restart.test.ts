// svc restart, in one process, while people follow along, a question waits and a run is at work: everybody is sent home in order,
// nothing is asked, done or told twice, and what waited can be answered afterwards.
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { EXIT } from "@svc/contract";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { localModel } from "./daemon.ts";
import { Follower } from "./follower.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const procedure = (mode: string): { toml: string } => ({
  toml: `[sop]\ndescription = "A procedure."\nexecution_mode = "${mode}"\n[[triggers]]\ntype = "manual"\n`,
});

test("followers are let go, a question waits on and is asked once, a run at work goes on and ends once", async () => {
  let turns = 0;
  await using model = await fakeModelServer({
    script: () => ((turns += 1) === 1 ? { fault: "hang" } : { text: `turn ${turns}` }),
  });
  await using fixture = await startGovernedFixture(`${localModel(model)}\n[daemon]\ndrain_secs = 1\n`);
  // It must come again where the platform calls it.
  await fixture.daemon.stop();
  const env = { SVC__GATEWAY__PORT: new URL(fixture.daemon.url).port };
  fixture.daemon = await startBinary({ home: fixture.home, env });
  writeProcedure(fixture.home, "busy", procedure("auto"));
  writeProcedure(fixture.home, "asks", procedure("supervised"));
  const token = await fixture.daemon.pair();
  const asks = await fixture.json<{ id: string }>("sop", "run", "asks");
  await eventually(
    () => fixture.platform.sent,
    ({ length }) => length === 1,
  );
  const busy = await fixture.json<{ id: string }>("sop", "run", "busy");
  await eventually(
    () => turns,
    (count) => count === 1,
  );
  const followers = [await Follower.stream(fixture.daemon, token), await Follower.socket(fixture.daemon, token)];
  const last = (await fixture.json<{ instance: string }>("status")).instance;
  expect((await fixture.svc("restart")).code).toBe(EXIT.ok);
  expect(await Promise.all(followers.map(({ ended }) => ended))).toEqual([undefined, 1001]);
  for (const { types } of followers) expect(types).toContain("service-draining");
  expect((await fixture.json<{ instance: string }>("status")).instance).not.toBe(last);

  const again = await Follower.stream(fixture.daemon, token, "some-boot-1");
  expect((await again.first("events-dropped")).payload).toMatchObject({ reason: "another-boot" });
  const show = (id: string) => (): Promise<{ status: string; steps: { output: unknown }[] }> =>
    fixture.json("sop", "show", id);
  const done = await eventually(show(busy.id), ({ status }) => status === "completed");
  expect(done.steps.map(({ output }) => output)).toEqual(["turn 2", "turn 3"]);
  expect(await fixture.json("approvals", "list")).toMatchObject({ approvals: [{ n: 1, run_id: asks.id }] });
  expect(fixture.platform.sent).toHaveLength(1);
  await fixture.write({ text: "approve" });
  expect(await eventually(show(asks.id), ({ status }) => status === "completed")).toMatchObject({
    status: "completed",
  });
  expect(turns).toBe(5);
  const ends = again.told.filter(({ type }) => type === "human_approval_resolved" || type === "sop-run-end");
  expect(ends.filter(({ payload }) => payload!["run_id"] === asks.id)).toHaveLength(2);
  expect(await fixture.json("audit", "verify")).toMatchObject({ ok: true });
});
