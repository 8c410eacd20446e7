// What goes wrong around a robot while the daemon lives, on the whole binary and an emulated Arduino: sensors that freeze and lie, a clock that
// is set, a turn that is cancelled, and a serial line that is pulled out. The motors stop in each.
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { missingUno } from "@svc/testkit/real/emulated-board";
import { startEmulatedRobot } from "@svc/testkit/real/emulated-robot";
import { missingSocat, startSerialPort } from "@svc/testkit/real/serial-port";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, expect, test } from "vitest";
import { homeWith, localModel } from "./daemon.ts";
import { missingWallClock, wallClock } from "./procedures-clock.ts";
import { binary, configOf, driving, HELD_UP, lifeOf, LONGEST_MS, standing, svc } from "./robot-fixture.ts";

const missing = missingUno();
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

const inAnHour = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

test("a frozen sensor, one that lies, a clock that is set and a cancelled turn: the daemon stops the motors", async (context) => {
  const missingClock = missingWallClock();
  if (missingClock) requireReal(context, missingClock);
  const drive = { name: "drive", input: { direction: "forward", speed: 0.2, seconds: 300 } };
  await using model = await fakeModelServer({ script: () => ({ calls: [drive] }) });
  await using board = await startEmulatedRobot();
  using home = homeWith(
    `${localModel(model)}\napi_key = "key-of-the-test"\n${configOf(board.path, "bump_pins = [3]")}`,
  );
  const clock = wallClock(home.path);
  clock.set(inAnHour(0));
  await using daemon = await startBinary({ home: home.path, binary, env: clock.env });
  const measured: Record<string, number> = {};

  /** Until the movement ends for this reason: on a machine that is busy something else may end it first. */
  async function provoke(
    reason: string,
    fault: () => unknown,
    sensor: { readonly wall?: number; readonly lie?: number } = {},
  ): Promise<void> {
    for (;;) {
      const { ended } = await driving(board, daemon, sensor);
      await fault();
      measured[reason] = Math.max(measured[reason] ?? 0, lifeOf(await standing(board)));
      const text = await ended;
      if (text.includes(`"stopped_by": "${reason}"`)) return;
      expect(text).toMatch(HELD_UP);
    }
  }

  await provoke("sensor_frozen", () => board.ask("sensor", { frozen: 1 }));
  // It says 3 m more than there is, in all plausibility; the bumper feels the wall.
  await provoke("bump", () => undefined, { wall: 700, lie: 3000 });
  expect((await board.report()).wall).toBe(0);
  let hours = 0;
  await provoke("time_jump", () => clock.set(inAnHour((hours += 1))));
  await provoke("time_jump", () => clock.set(inAnHour((hours -= 30))));
  clock.set(inAnHour(0));

  const token = await daemon.pair();
  const lastStop = async (): Promise<string> => {
    const { last_stop: last } = JSON.parse(await svc(home.path, "safety", "status", "--json")) as {
      readonly last_stop: { readonly reason: string };
    };
    return last.reason;
  };
  await board.ask("sensor", { wall: 30_000 });
  const answer = await daemon.request("/api/sessions", { token, body: { message: "drive on" } });
  const { id } = (await answer.json()) as { readonly id: string };
  while ((await board.report()).moves === 0);
  const cancelled = await daemon.request(`/api/sessions/${id}/cancel`, { token, method: "POST" });
  expect(await cancelled.json()).toEqual({ id, cancelled: true });
  measured["cancelled"] = lifeOf(await standing(board));
  expect(await lastStop()).toBe("cancelled");
  expect(model.requests).toHaveLength(1);
  for (const ms of Object.values(measured)) expect(ms).toBeLessThanOrEqual(LONGEST_MS);
  console.log("milliseconds of the board's clock from the last command to the stop:", measured);
});

test("motors at a serial port: they stop by themselves after kill -9, and when the plug is pulled", async (context) => {
  const missingPort = missingSocat();
  if (missingPort) requireReal(context, missingPort);
  await using board = await startEmulatedRobot();
  using folder = temporaryHome();
  const path = join(folder.path, "port");
  const target = { port: Number(new URL(board.path).port) };
  using home = homeWith(configOf(path));
  const measured: Record<string, number> = {};
  await using port = await startSerialPort(path, target);
  {
    await using daemon = await startBinary({ home: home.path, binary });
    void (await driving(board, daemon)).ended;
    const { expiries } = await board.report();
    await daemon.kill9();
    const report = await standing(board);
    measured["kill -9"] = lifeOf(report);
    expect(report.expiries).toBe(expiries + 1);
  }
  await using daemon = await startBinary({ home: home.path, binary });
  const { ended } = await driving(board, daemon);
  await port.unplug();
  measured["unplugged"] = lifeOf(await standing(board));
  expect(await ended).toMatch(/board_lost|sensor_stale/);
  // It is put in again, and nothing moves before it is asked to.
  await using _again = await startSerialPort(path, target);
  expect((await board.report()).moves).toBe(0);
  void (await driving(board, daemon)).ended;
  expect(await svc(home.path, "tools", "run", "stop")).toContain("The robot stands");
  expect((await standing(board)).moves).toBe(0);
  for (const ms of Object.values(measured)) expect(ms).toBeLessThanOrEqual(LONGEST_MS);
  console.log("milliseconds of the board's clock from the last command to the stop:", measured);
});

test("stop can't be switched off while drive is on; the config is refused at its line", async () => {
  using home = homeWith('[safety]\ndrive = { backend = "simulated" }\n\n[tools]\ndisabled = ["stop"]\n');
  const text = await svc(home.path, "config", "check");
  expect(text).toContain("config.toml:5:");
  expect(text).toContain("stop can't be switched off while drive is on; disable both");
});
