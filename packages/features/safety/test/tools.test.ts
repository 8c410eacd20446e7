// The tools keep what every tool keeps. A movement needs an approval, a stop never does.
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { afterAll, expect, test } from "vitest";
import { toolsOf } from "../src/tools.ts";
import { passing, startRobot } from "./robot.ts";

const one = await startRobot();
one.robot.obstacles.length = 0;
const tools = toolsOf(one.drive, { maxSpeed: 0.5 });
const tool = (name: string) => tools.find((found) => found.name === name)!;
// The suites don't know of the robot's clock.
const ticking = setInterval(() => void one.clock.advance(100), 1);
afterAll(async () => {
  clearInterval(ticking);
  await one.end();
});

toolConformance(tool("drive"), {
  input: { direction: "left", distance: 0.05 },
  badInputs: [
    { distance: 1 },
    { direction: "up", distance: 1 },
    { direction: "forward", distance: 0 },
    { direction: "forward", distance: -1 },
    { direction: "forward", distance: 1, speed: 0 },
    { direction: "forward", seconds: 0 },
    { direction: "forward", distance: 1, force: true },
  ],
  refused: [{ input: { direction: "forward" }, code: "TOOL_BAD_INPUT" }],
});
toolConformance(tool("stop"), { input: {}, badInputs: [{ now: true }] });
toolConformance(tool("drive_status"), { input: {}, badInputs: [{ verbose: true }] });

test("a movement is asked for, a stop and the status never are", () => {
  expect(tools.map(({ name, approval }) => [name, approval])).toEqual([
    ["drive", "ask"],
    ["stop", "auto"],
    ["drive_status", "auto"],
  ]);
});

test("what differs from the request is said", async () => {
  await using near = await startRobot();
  near.robot.obstacles.length = 0;
  const { x, y } = near.robot.scene().robot;
  near.robot.obstacles.push({ x: x + 1, y, radius: 0.2 });
  const [drive] = toolsOf(near.drive, { maxSpeed: 0.5 });
  const answer = await passing(
    near.clock,
    drive!.run({ direction: "forward", speed: 0.5, distance: 2 }, fakeToolContext()),
  );
  expect(answer).toMatchObject({
    stopped_by: "done",
    message: expect.stringMatching(
      /^The way is done\. Only 0\.(?:49|50) m are free; the way was shortened from 2\.00 m\.$/,
    ) as string,
  });
});
