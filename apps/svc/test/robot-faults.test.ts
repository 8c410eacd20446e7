// What goes wrong around a robot while the daemon lives, on the whole binary and an emulated Arduino: sensors that freeze and lie, a clock that
// is set, a turn that is cancelled, and a serial line that is pulled out. The motors stop in each.
import { appendFileSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { spawnBinary } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { missingUno } from "@svc/testkit/real/emulated-board";
import { startEmulatedRobot } from "@svc/testkit/real/emulated-robot";
import { missingSocat, startSerialPort } from "@svc/testkit/real/serial-port";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { homeWith, localModel, UNGUARDED } from "./daemon.ts";
import { missingWallClock, wallClock } from "./procedures-clock.ts";
import { binary, configOf, driving, HELD_UP, MOST_COMMANDS, reactionOf, standing, svc } from "./robot-fixture.ts";

const missingBoard = missingUno();

const inAnHour = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

test("a frozen sensor, one that lies, a clock that is set and a cancelled turn: the daemon stops the motors", async (context) => {
  const missing = missingBoard ?? missingWallClock();
  if (missing) requireReal(context, missing);
  const drive = { name: "drive", input: { direction: "forward", speed: 0.2, seconds: 300 } };
  await using model = await fakeModelServer({ script: () => ({ calls: [drive] }) });
  await using board = await startEmulatedRobot();
  using home = homeWith(
    `${localModel(model)}\napi_key = "key-of-the-test"\n${configOf(board.path, "bump_pins = [3]")}\n[agents_pool]\n`,
  );
  const clock = wallClock(home.path);
  clock.set(inAnHour(0));
  await using daemon = await startBinary({ home: home.path, binary, env: clock.env });
  const measured: Record<string, number> = {};
  const commands: Record<string, number> = {};

  /** Until the movement ends for this reason: on a machine that is busy something else may end it first. */
  async function provoke(
    reason: string,
    fault: () => unknown,
    sensor: { readonly wall?: number; readonly lie?: number } = {},
  ): Promise<void> {
    for (;;) {
      const { ended } = await driving(board, daemon, sensor);
      await fault();
      const report = await standing(board);
      const reaction = reactionOf(report);
      const text = await ended;
      if (text.includes(`"stopped_by": "${reason}"`)) {
        measured[reason] = Math.max(measured[reason] ?? 0, reaction);
        commands[reason] = report.heard;
        return;
      }
      expect(text).toMatch(HELD_UP);
    }
  }

  await provoke("sensor_frozen", () => board.ask("sensor", { frozen: 1 }));
  // It says 3 m more than there is, in all plausibility; the bumper feels the wall.
  await provoke("bump", () => undefined, { wall: 700, lie: 3000 });
  expect((await board.report()).wall).toBe(0);
  expect(commands["bump"]).toBeLessThanOrEqual(MOST_COMMANDS);
  let hours = 0;
  for (const jump of [1, -30]) {
    await provoke("time_jump", async () => {
      await board.ask("mark", {});
      clock.set(inAnHour((hours += jump)));
    });
  }
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
  await board.ask("mark", {});
  const cancelled = await daemon.request(`/api/sessions/${id}/cancel`, { token, method: "POST" });
  expect(await cancelled.json()).toEqual({ id, cancelled: true });
  measured["cancelled"] = reactionOf(await standing(board));
  expect(await lastStop()).toBe("cancelled");
  expect(model.requests).toHaveLength(1);

  /** Kills the process for which the robot moves, again where the busy machine ended the movement first. */
  async function kill<T>(
    what: string,
    {
      begin,
      pidOf,
      isOver,
    }: {
      readonly begin: () => Promise<T>;
      readonly pidOf: (begun: T) => Promise<number | null>;
      readonly isOver: (begun: T) => Promise<boolean>;
    },
  ): Promise<void> {
    for (let reason = ""; reason !== "cancelled"; reason = await lastStop()) {
      await board.ask("sensor", { wall: 30_000 });
      const begun = await begin();
      let pid: number | null = null;
      while (!(await isOver(begun)) && (await board.report()).moves === 0) pid = await pidOf(begun);
      pid ??= await pidOf(begun);
      await board.ask("mark", {});
      if (pid !== null && !(await isOver(begun))) process.kill(pid, "SIGKILL");
      const report = await standing(board);
      measured[what] = reactionOf(report);
      while (!(await isOver(begun)));
    }
  }

  // A turn in a process of its own, which is killed: a child agent of svc's own.
  const agent = async (path: string, method = "GET", body?: object) =>
    (await (await daemon.request(path, { token, method, ...(body && { body }) })).json()) as {
      readonly id: string;
      readonly pid: number | null;
      readonly status: string;
    };
  await kill("kill -9 of the turn", {
    begin: () => agent("/api/agents", "POST", { prompt: "drive on", wait_secs: 0 }),
    pidOf: async ({ id }) => (await agent(`/api/agents/${id}`)).pid,
    isOver: async ({ id }) => /^(?:error|idle)$/.test((await agent(`/api/agents/${id}`)).status),
  });

  // The command that asked for the movement.
  const command = ["tools", "run", "drive", "--input", JSON.stringify(drive.input)];
  await kill("kill -9 of the command", {
    begin: async () => spawnBinary(binary, command, home.path),
    pidOf: async ({ pid }) => pid!,
    isOver: async ({ exitCode, signalCode }) => exitCode !== null || signalCode !== null,
  });
  console.log("from the fault to the stop, milliseconds of the board's clock:", measured, "commands:", commands);
});

test("motors at a serial port: they stop by themselves after kill -9, and when the plug is pulled", async (context) => {
  const missing = missingBoard ?? missingSocat();
  if (missing) requireReal(context, missing);
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
    await board.ask("mark", {});
    await daemon.kill9();
    const report = await standing(board);
    measured["kill -9"] = reactionOf(report);
    expect(report.expiries).toBe(expiries + 1);
  }
  await using daemon = await startBinary({ home: home.path, binary });
  const { ended } = await driving(board, daemon);
  await board.ask("mark", {});
  await port.unplug();
  measured["unplugged"] = reactionOf(await standing(board));
  expect(await ended).toMatch(/board_lost|sensor_stale/);
  // It is put in again, and nothing moves before it is asked to.
  await using _again = await startSerialPort(path, target);
  expect((await board.report()).moves).toBe(0);
  void (await driving(board, daemon)).ended;
  expect(await svc(home.path, "tools", "run", "stop")).toContain("The robot stands");
  expect((await standing(board)).moves).toBe(0);
  console.log("from the fault to the stop, milliseconds of the board's clock:", measured);
});

test("stop can't be switched off while drive is on; the config is refused at its line", async () => {
  using home = homeWith('[safety]\ndrive = { backend = "simulated" }\n\n[tools]\ndisabled = ["stop"]\n');
  expect(await svc(home.path, "config", "check")).toContain(
    "config.toml:5  tools.disabled[0]: stop can't be switched off while drive is on; disable both",
  );
});

test("the commands of the guide's page, with the simulated robot", async () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/guide/robot.md"), "utf8");
  const blocks = (language: string): string[] =>
    [...page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, text]) => text!);
  using home = homeWith(UNGUARDED);
  await using daemon = await startBinary({ home: home.path, binary });
  expect(daemon.pid).toBeGreaterThan(0);
  appendFileSync(join(home.path, "config.toml"), `\n${blocks("toml")[0]!}`);
  const env = { PATH: `${dirname(binary)}${delimiter}${process.env["PATH"]}` };
  const typed: string[] = [];
  for (const block of blocks("sh")) {
    const { code, stdout, stderr } = await runBinary(["-ec", block], { home: home.path, binary: "sh", env });
    expect({ block, code, stderr }).toEqual({ block, code: 0, stderr: "" });
    typed.push(stdout);
  }
  expect(typed).toEqual([
    expect.stringContaining("The robot stands, ready to move."),
    expect.stringMatching(/"stopped_by": "done"[^]*"state": "idle"[^]*The robot stands\./),
    expect.stringMatching(/It is latched[^]*The emergency stop is reset\./),
  ]);
});
