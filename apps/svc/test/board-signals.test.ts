// A change of a watched pin starts its procedure once, over kills of the daemon and of the connection to the board.
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { startJsonBoard } from "@svc/testkit/platforms/json-board";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { homeWith, localModel } from "./daemon.ts";
import { writeProcedure } from "./governed-fixture.ts";

const procedure = (signal: string, condition: string): string => `[sop]
description = "Looks who is at the door."
max_concurrent = 100
execution_mode = "auto"

[[triggers]]
type = "peripheral"
board = "arduino0"
signal = "${signal}"
condition = "${condition}"
`;

test("each press starts its procedure once, over kills of the daemon and a board that comes and goes", async () => {
  await using board = await startJsonBoard();
  await using model = await fakeModelServer({ script: () => ({ text: "It is done." }) });
  using home = homeWith(`${localModel(model)}
api_key = "k"

[[peripherals.boards]]
board = "arduino-uno"
transport = "bridge"
path = "${board.path}"
watch = [
  { pin = 4, name = "bell", edge = "rising" },
  { pin = 5 },
  { pin = 14, name = "light", edge = "rising", above = 600, hysteresis = 50 },
]
`);
  writeProcedure(home.path, "bell", { toml: procedure("bell", "== 1") });
  writeProcedure(home.path, "door", { toml: procedure("gpio5", "== 0") });
  writeProcedure(home.path, "light", { toml: procedure("light", "== 1") });
  const begin = (): Promise<RunningBinary> => startBinary({ home: home.path, binary: fullestBinaryPath() });
  let daemon = await begin();
  const token = await daemon.pair();
  const started = async (): Promise<string[]> => {
    const answer = await daemon.request("/api/sop-runs?limit=200", { token });
    return ((await answer.json()) as { runs: { sop: string }[] }).runs.map(({ sop }) => sop).toSorted();
  };
  const until = (expected: readonly string[]): Promise<unknown> =>
    eventually(started, (now) => now.length >= expected.length);
  const reads = (): number => board.commands.filter((line) => line.includes("gpio_read")).length;
  /** Each pin was asked twice since. */
  const seen = async (): Promise<void> => {
    const before = reads();
    await eventually(
      async () => reads(),
      (now) => now >= before + 12,
    );
  };
  await seen();
  expect(await started()).toEqual([]);

  board.pins.set(4, 1);
  await until(["bell"]);
  await daemon.kill9();
  daemon = await begin();
  await seen();
  expect(await started()).toEqual(["bell"]);

  // The edge that no trigger waits for, and one that came while the daemon was away.
  board.pins.set(4, 0);
  board.pins.set(5, 1);
  await seen();
  await daemon.kill9();
  board.pins.set(4, 1);
  daemon = await begin();
  await until(["bell", "bell"]);
  await seen();
  expect(await started()).toEqual(["bell", "bell"]);

  board.drop();
  board.pins.set(5, 0);
  await until(["bell", "bell", "door"]);
  // Killed as soon as it may be: what is on disk decides.
  const all = ["bell", "bell", "door"];
  for (let round = 0; round < 3; round += 1) {
    board.pins.set(4, 0);
    await seen();
    board.pins.set(4, 1);
    await new Promise((resolve) => setTimeout(resolve, 60 * round));
    await daemon.kill9();
    daemon = await begin();
    all.unshift("bell");
    await until(all);
  }
  await seen();
  expect(await started()).toEqual(all);

  // An analog input passes its threshold, chatters there over a kill, and falls below.
  board.analog.set(14, 600);
  all.push("light");
  await until(all);
  await daemon.kill9();
  board.analog.set(14, 560);
  daemon = await begin();
  await seen();
  board.analog.set(14, 610);
  await seen();
  board.analog.set(14, 100);
  await seen();
  expect(await started()).toEqual(all);
  await daemon.close();
});
