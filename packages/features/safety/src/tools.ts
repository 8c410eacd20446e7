/** What agents are given: they ask for movements, and the monitor allows them. */
import { defineTool, type Json, SvcError, type Tool } from "@svc/contract";
import * as v from "valibot";
import { statusJson } from "./routes.ts";
import { DIRECTIONS } from "./robot.ts";
import type { SafeDrive } from "./safe-drive.ts";

const BY = "an agent";

export const toolsOf = (drive: SafeDrive, { maxSpeed }: { readonly maxSpeed: number }): Tool[] => [
  defineTool({
    name: "drive",
    description:
      "Moves the robot and waits until it stands again. A safety monitor refuses, slows, shortens or ends the movement; the answer says so. " +
      "left and right turn on the spot. Give distance or seconds. One movement at a time: a second request stops the robot.",
    input: v.strictObject({
      direction: v.pipe(v.picklist(DIRECTIONS), v.description("Where to. left and right turn on the spot.")),
      speed: v.optional(
        v.pipe(v.number(), v.minValue(0.02), v.maxValue(5), v.description(`Metres a second, at most ${maxSpeed}.`)),
        Math.min(0.3, maxSpeed),
      ),
      distance: v.optional(
        v.pipe(
          v.number(),
          v.minValue(0.02),
          v.maxValue(100),
          v.description("Metres; in a turn, what each wheel rolls."),
        ),
      ),
      seconds: v.optional(v.pipe(v.number(), v.minValue(0.1), v.maxValue(600), v.description("How long, at most."))),
    }),
    approval: "ask",
    lasting: Object.freeze({}),
    async run({ direction, speed, distance, seconds }, { signal }) {
      if (distance === undefined && seconds === undefined) {
        throw new SvcError("TOOL_BAD_INPUT", "Give distance, in metres, or seconds, or both.");
      }
      const { stopped, move } = await drive.drive({ direction, speed, distance, seconds }, BY, signal);
      return {
        stopped_by: stopped.reason,
        message: [stopped.message, ...move.notes].join(" "),
        travelled: rounded(stopped.travelled),
        ...(!stopped.confirmed && { warning: "The robot did not confirm the stop; its own timer stops the motors." }),
      };
    },
  }),
  defineTool({
    name: "stop",
    description: "Stops the robot at once. Always allowed.",
    input: v.strictObject({}),
    approval: "auto",
    async run(_, { signal }) {
      signal.throwIfAborted();
      const { confirmed } = await drive.stop(BY);
      return confirmed
        ? "The robot stands."
        : "The robot did not confirm the stop; its own timer stops the motors within 500 ms.";
    },
  }),
  defineTool({
    name: "drive_status",
    description: "Tells whether the robot moves, what its sensors say, and why it stopped last. Reads only.",
    input: v.strictObject({}),
    approval: "auto",
    async run(_, { signal }) {
      signal.throwIfAborted();
      return statusJson(drive.status()) as Json;
    },
  }),
];

const rounded = (metres: number): number => Math.round(metres * 100) / 100;
