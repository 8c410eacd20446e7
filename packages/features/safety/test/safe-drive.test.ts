// SafeDrive and SafetyMonitor together: what ends a movement beside the layers, and that everything is recorded.
import { expect, test } from "vitest";
import { LAYERS } from "../src/safety-monitor.ts";
import { forever, passing, REQUEST, startRobot } from "./robot.ts";

async function moving(given: Parameters<typeof startRobot>[0] = {}) {
  const one = await startRobot(given);
  one.robot.obstacles.length = 0;
  const cancel = new AbortController();
  const driven = one.drive.drive({ ...REQUEST, distance: 2 }, "an agent", cancel.signal);
  driven.catch(() => undefined);
  await one.clock.advance(600);
  expect(one.robot.isStanding).toBe(false);
  return { ...one, driven, cancel };
}

test("a movement goes as far as it was asked to, and is recorded from its request to its end", async () => {
  await using one = await startRobot();
  one.robot.obstacles.length = 0;
  const { x } = one.robot.scene().robot;
  expect(await one.move({ distance: 0.8 })).toMatchObject({ reason: "done", confirmed: true });
  await one.clock.advance(1000);
  expect(one.robot.scene().robot.x - x).toBeGreaterThan(0.7);
  expect(one.robot.scene().robot.x - x).toBeLessThanOrEqual(0.81);
  expect(one.events.map(({ type }) => type)).toEqual(["safety-request", "safety-stop"]);
  expect(one.audited.map(({ kind }) => kind)).toEqual(["safety-request", "safety-stop"]);
});

test("two requests at once: the robot stops, and the second is refused", async () => {
  const one = await moving();
  await expect(one.drive.drive(REQUEST, "another agent", forever)).rejects.toMatchObject({ code: "SAFETY_REFUSED" });
  expect((await passing(one.clock, one.driven)).stopped).toMatchObject({ reason: "conflict" });
  expect(one.events.map(({ type }) => type)).toEqual([
    "safety-request",
    "safety-request",
    "safety-refuse",
    "safety-stop",
  ]);
  await one.end();
});

test("two requests in the same moment: neither moves the robot", async () => {
  await using one = await startRobot();
  const both = [one.drive.drive(REQUEST, "a", forever), one.drive.drive(REQUEST, "b", forever)];
  const results = await passing(one.clock, Promise.allSettled(both));
  expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(one.robot.isStanding).toBe(true);
});

test("a cancelled turn, a stop and the end of the monitor each stop it, and nothing else moves it after", async () => {
  const cancelled = await moving();
  cancelled.cancel.abort(new Error("the turn was cancelled"));
  expect((await passing(cancelled.clock, cancelled.driven)).stopped).toMatchObject({ reason: "cancelled" });
  await cancelled.end();
  const stopped = await moving();
  expect(await passing(stopped.clock, stopped.drive.stop("a person"))).toMatchObject({
    reason: "stop_requested",
    confirmed: true,
  });
  expect((await passing(stopped.clock, stopped.driven)).stopped).toMatchObject({ by: "a person" });
  await stopped.end();
  const ended = await moving();
  await ended.end();
  expect(ended.robot.isStanding).toBe(true);
  expect((await ended.driven).stopped).toMatchObject({ reason: "out_of_service" });
  await expect(ended.drive.drive(REQUEST, "an agent", forever)).rejects.toMatchObject({ code: "SAFETY_DOWN" });
  expect(ended.drive.status().state).toBe("unmonitored");
});

test("a monitor that fails stops the robot first, then fails", async () => {
  const layers = {
    ...LAYERS,
    reactiveStop: () => {
      throw new Error("a defect");
    },
  };
  const one = await startRobot({ layers });
  one.robot.obstacles.length = 0;
  const driven = one.drive.drive(REQUEST, "an agent", forever);
  await one.clock.advance(1000);
  await expect(one.running).rejects.toThrow("a defect");
  expect((await driven).stopped).toMatchObject({ reason: "monitor_failed", layer: 4 });
  await one.clock.advance(1000);
  expect(one.robot.isStanding).toBe(true);
});

test("what can't be recorded does not happen", async () => {
  const one = await startRobot({ audit: () => Promise.reject(new Error("disk full")) });
  await expect(one.drive.drive(REQUEST, "an agent", forever)).rejects.toMatchObject({
    code: "SAFETY_REFUSED",
    message: "The audit log takes no lines.",
  });
  expect(await passing(one.clock, one.drive.stop("a person"))).toMatchObject({ confirmed: true });
  await one.end();
});
