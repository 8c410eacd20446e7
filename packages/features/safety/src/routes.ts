/** Routes for the page and the command line. What an agent can't do, reset, is only here. */
import type { Route, RouteCaller } from "@svc/contract";
import * as v from "valibot";
import type { SafeDrive } from "./safe-drive.ts";
import type { DriveStatus } from "./safe-drive.ts";
import type { SensorView } from "./sensing.ts";
import type { Scene } from "./simulator.ts";

export const STATUS_PATH = "/api/safety";
export const STOP_PATH = "/api/safety/stop";
export const RESET_PATH = "/api/safety/reset";

const SENSOR = v.object({
  name: v.string(),
  angle: v.pipe(v.number(), v.description("Degrees clockwise from ahead.")),
  value: v.pipe(
    v.nullable(v.union([v.number(), v.boolean()])),
    v.description("Metres, or whether it is pressed; null: not read, or nothing within range."),
  ),
  age_ms: v.nullable(v.number()),
});

const STATUS = v.object({
  state: v.picklist(["idle", "moving", "latched", "unmonitored"]),
  movement: v.nullable(v.object({ direction: v.string(), speed: v.number() })),
  latch: v.nullable(v.object({ by: v.string(), at: v.string() })),
  last_stop: v.nullable(
    v.object({
      at: v.string(),
      reason: v.string(),
      message: v.string(),
      layer: v.nullable(v.number()),
      travelled: v.number(),
      confirmed: v.boolean(),
      by: v.string(),
    }),
  ),
  distances: v.array(SENSOR),
  bumpers: v.array(SENSOR),
});
export type StatusJson = v.InferOutput<typeof STATUS>;

const SCENE = v.object({
  width: v.number(),
  height: v.number(),
  obstacles: v.array(v.object({ x: v.number(), y: v.number(), radius: v.number() })),
  robot: v.object({ x: v.number(), y: v.number(), heading: v.number(), radius: v.number() }),
});

const STOP = v.strictObject({
  latch: v.optional(v.pipe(v.boolean(), v.description("Nothing moves before a person resets it.")), false),
});

export const routesOf = (drive: SafeDrive, scene: (() => Scene) | undefined): Route[] => [
  {
    method: "GET",
    path: STATUS_PATH,
    doc: {
      summary: "Tells how the robot is: movement, latch, last stop, sensors, and the simulated room.",
      answers: {
        200: {
          description: "`scene` is null for a real robot.",
          body: v.object({ ...STATUS.entries, scene: v.nullable(SCENE) }),
        },
      },
    },
    async handle() {
      const room = scene?.();
      return {
        status: 200,
        body: {
          ...statusJson(drive.status()),
          scene: room
            ? { ...room, robot: { ...room.robot }, obstacles: room.obstacles.map((one) => ({ ...one })) }
            : null,
        },
      };
    },
  },
  {
    method: "POST",
    path: STOP_PATH,
    doc: {
      summary: "Stops the robot at once; with `latch` until a person resets it.",
      body: STOP,
      answers: { 200: { description: "It was stopped.", body: v.object({ confirmed: v.boolean() }) } },
    },
    async handle({ body, caller }) {
      const { latch = false } = (body ?? {}) as Partial<v.InferOutput<typeof STOP>>;
      const { confirmed } = await drive.stop(personOf(caller), latch);
      return { status: 200, body: { confirmed } };
    },
  },
  {
    method: "POST",
    path: RESET_PATH,
    doc: {
      summary: "Resets the emergency stop. It is refused while the switch is pressed.",
      answers: { 200: { description: "Whether it was latched.", body: v.object({ was_latched: v.boolean() }) } },
      errors: ["SAFETY_LATCHED"],
    },
    handle: async ({ caller, signal }) => ({
      status: 200,
      body: { was_latched: await drive.reset(personOf(caller), signal) },
    }),
  },
];

const personOf = ({ kind }: RouteCaller): string =>
  kind === "operator" ? "a person at the command line" : "a person on a paired device";

export const statusJson = ({ state, move, speed, latch, lastStop, distances, bumpers }: DriveStatus): StatusJson => ({
  state,
  movement: move ? { direction: move.direction, speed } : null,
  latch: latch ? { by: latch.by, at: latch.at } : null,
  last_stop: lastStop
    ? {
        at: lastStop.at,
        reason: lastStop.reason,
        message: lastStop.message,
        layer: lastStop.layer ?? null,
        travelled: Math.round(lastStop.travelled * 1000) / 1000,
        confirmed: lastStop.confirmed,
        by: lastStop.by,
      }
    : null,
  distances: distances.map(sensorJson),
  bumpers: bumpers.map(sensorJson),
});

const sensorJson = ({ name, angle, value, ageMs }: SensorView): StatusJson["distances"][number] => ({
  name,
  angle,
  value: value === undefined || value === Number.POSITIVE_INFINITY ? null : value,
  age_ms: ageMs === undefined ? null : Math.round(ageMs),
});
