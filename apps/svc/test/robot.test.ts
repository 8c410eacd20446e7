// A robot on an emulated Arduino, driven by the whole binary: whatever ends the daemon, holds it up or cuts it off, the motors stop. Times
// are those of the board's own clock, so that a slow machine changes none of them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { missingUno } from "@svc/testkit/real/emulated-board";
import { startEmulatedRobot } from "@svc/testkit/real/emulated-robot";
import { requireReal } from "@svc/testkit/require-real";
import { beforeEach, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";
import {
  binary,
  configOf,
  driving,
  HELD_UP,
  lifeOf,
  LONGEST_MS,
  MOST_COMMANDS,
  reactionOf,
  standing,
  svc,
} from "./robot-fixture.ts";

const missing = missingUno();
beforeEach((context) => {
  if (missing) requireReal(context, missing);
});

test("kill -9, a frozen process and a cut line: the board's own timer stops the motors", async () => {
  await using board = await startEmulatedRobot();
  using home = homeWith(configOf(board.path));
  const measured: Record<string, number> = {};
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
  const frozen = await driving(board, daemon);
  await board.ask("mark", {});
  process.kill(daemon.pid, "SIGSTOP");
  measured["SIGSTOP"] = reactionOf(await standing(board));
  process.kill(daemon.pid, "SIGCONT");
  // It does not drive on: it was late, or its command did not come through in time.
  expect(await frozen.ended).toMatch(/late|board_lost|sensor_stale/);
  const { commands } = await board.report();
  const cut = await driving(board, daemon);
  expect((await board.report()).commands).toBeGreaterThan(commands);
  await board.ask("mark", {});
  board.cut(true);
  measured["cut"] = reactionOf(await standing(board));
  expect(await cut.ended).toMatch(/board_lost|sensor_stale/);
  board.cut(false);
  console.log("from the fault to the stop, milliseconds of the board's clock:", measured);
});

test("a reload, two requests, a switch, a dead sensor and a shutdown: the daemon stops the motors", async () => {
  await using board = await startEmulatedRobot();
  using home = homeWith(configOf(board.path));
  await using daemon = await startBinary({ home: home.path, binary });
  const measured: Record<string, number> = {};
  const measure = async (
    what: string,
    { ended }: { readonly ended: Promise<string> },
    reason: RegExp,
  ): Promise<void> => {
    measured[what] = lifeOf(await standing(board));
    expect(`${what}: ${await ended}`).toMatch(new RegExp(`${reason.source}|${HELD_UP.source}`));
  };

  const reloaded = await driving(board, daemon);
  const file = join(home.path, "config.toml");
  writeFileSync(file, `# another line\n${readFileSync(file, "utf8")}`);
  await svc(home.path, "reload");
  await measure("reload", reloaded, /out_of_service/);

  for (let answer = ""; !answer.includes("SAFETY_REFUSED");) {
    const first = await driving(board, daemon);
    const second = svc(home.path, "tools", "run", "drive", "--input", '{"direction":"forward","distance":0.1}');
    await measure("two requests", first, /conflict/);
    answer = await second;
    // Or it moved, as the busy machine had ended the first before.
    expect(`${answer} ${await first.ended}`).toMatch(new RegExp(`SAFETY_REFUSED|${HELD_UP.source}`));
  }

  const stopped = await driving(board, daemon);
  expect(await svc(home.path, "safety", "stop")).toContain("The robot stands");
  await measure("svc safety stop", stopped, /stop_requested/);

  const silent = await driving(board, daemon);
  await board.ask("sensor", { dead: 1 });
  await measure("dead sensor", silent, /sensor_stale/);

  const pressed = await driving(board, daemon);
  await board.ask("switch", { pin: 2, value: 1 });
  await measure("switch", pressed, /emergency_stop/);
  const report = await board.report();
  console.log(`the switch: ${reactionOf(report)} ms, ${report.heard} commands`);
  // A busy machine may have held the monitor up before the switch was read.
  const heard = (await pressed.ended).includes("emergency_stop") ? report.heard : 0;
  expect(heard).toBeLessThanOrEqual(MOST_COMMANDS);
  expect(await svc(home.path, "safety", "reset", "--yes")).toContain("SAFETY_LATCHED");
  await board.ask("switch", { pin: 2, value: 0 });
  expect(await svc(home.path, "tools", "run", "drive", "--input", '{"direction":"forward","distance":1}')).toContain(
    "SAFETY_LATCHED",
  );
  expect(
    await svc(home.path, "tools", "run", "gpio_write", "--input", '{"device":"arduino0","pin":5,"value":1}'),
  ).toContain("BOARD_REFUSED");
  const { code } = await daemon.stop();
  expect(code).toBe(0);

  // The latch outlives the daemon.
  await using next = await startBinary({ home: home.path, binary });
  expect(JSON.parse(await svc(home.path, "safety", "status", "--json"))).toMatchObject({ state: "latched" });
  expect(await svc(home.path, "safety", "reset", "--yes")).toContain("is reset");
  const driven = await driving(board, next);
  await next.stop();
  measured["shutdown"] = lifeOf(await standing(board));
  await driven.ended;
  for (const ms of Object.values(measured)) expect(ms).toBeLessThanOrEqual(LONGEST_MS);
  console.log("milliseconds of the board's clock from the last command to the stop:", measured);
  const lines = (await svc(home.path, "audit", "list", "--limit", "200", "--json")).match(/"safety-[a-z]+"/g);
  expect(new Set(lines)).toEqual(new Set(['"safety-request"', '"safety-refuse"', '"safety-stop"', '"safety-reset"']));
});
