/** The section `[safety]`, and the limits that it makes. */
import { integer } from "@svc/contract";
import * as v from "valibot";

const metres = (min: number, max: number, text: string) =>
  v.pipe(v.number(), v.minValue(min), v.maxValue(max), v.description(text));

const alias = v.pipe(v.string(), v.regex(/^[a-z][a-z0-9-]{0,31}$/, "an alias such as arduino0"));
const pin = integer(0, 255);

const drive = v.pipe(
  v.strictObject({
    backend: v.optional(
      v.pipe(
        v.picklist(["board", "simulated"]),
        v.description("board: motors of a board. simulated: a robot in a simulated room."),
      ),
      "board",
    ),
    board: v.optional(v.pipe(alias, v.description("Alias of the board that has the motors, such as arduino0."))),
    left: v.optional(v.pipe(pin, v.description("Left motor, numbered as in the board's firmware."))),
    right: v.optional(v.pipe(pin, v.description("Right motor, numbered as in the board's firmware."))),
    seed: v.optional(v.pipe(integer(0, 0xffff_ffff), v.description("Simulated room.")), 1),
  }),
  v.partialCheck(
    [["backend"], ["board"], ["left"], ["right"]],
    ({ backend, board, left, right }) =>
      backend === "simulated" || (board !== undefined && left !== undefined && right !== undefined && left !== right),
    'board, left and right, or backend = "simulated"',
  ),
);

const sensor = v.strictObject({
  board: v.pipe(alias, v.description("Alias of the board that the sensor is connected to.")),
  kind: v.pipe(
    v.picklist(["distance", "bump"]),
    v.description("distance: distance to an obstacle in metres. bump: a bump switch."),
  ),
  pin: v.pipe(pin, v.description("Pin of the sensor, numbered as in the board's firmware.")),
  angle: v.optional(
    v.pipe(
      v.number(),
      v.minValue(-180),
      v.maxValue(360),
      v.description("Direction of the sensor, in degrees clockwise: 0 ahead, 90 right, 180 behind."),
    ),
    0,
  ),
});

export const safetyConfig = v.strictObject({
  enabled: v.optional(v.pipe(v.boolean(), v.description("Let agents drive the robot.")), true),
  drive: v.pipe(drive, v.description("What moves the robot.")),
  min_obstacle_distance: v.optional(metres(0.05, 10, "The robot stops this many metres before an obstacle."), 0.3),
  slow_zone_multiplier: v.optional(
    v.pipe(
      v.number(),
      v.minValue(1.1),
      v.maxValue(20),
      v.description("The robot slows down within this multiple of the minimum distance."),
    ),
    3,
  ),
  approach_speed_limit: v.optional(metres(0.02, 5, "Highest speed within the slow zone and in turns, in m/s."), 0.3),
  max_speed: v.optional(metres(0.02, 5, "Highest speed, in m/s."), 0.5),
  blind_mode_speed_limit: v.optional(
    metres(0, 1, "Highest speed in a direction without a distance sensor, in m/s; 0: no driving there."),
    0,
  ),
  max_drive_duration: v.optional(
    v.pipe(v.number(), v.minValue(1), v.maxValue(600), v.description("Longest movement, in seconds.")),
    30,
  ),
  sensor_timeout_secs: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0.2),
      v.maxValue(5),
      v.description("Age in seconds at which a sensor reading stops the robot."),
    ),
    1,
  ),
  estop_pin: v.optional(
    v.pipe(
      pin,
      v.description(
        "Pin of the drive board with a normally closed emergency switch to ground; HIGH: pressed, or a cut wire.",
      ),
    ),
  ),
  bump_pins: v.optional(
    v.pipe(
      v.array(pin),
      v.maxLength(16),
      v.description("Pins of the drive board with front bump switches to ground; LOW: pressed."),
    ),
    [],
  ),
  sensors: v.optional(
    v.pipe(v.array(sensor), v.maxLength(16), v.description("Sensors that see obstacles. The simulator has its own.")),
    [],
  ),
});
export type SafetyConfig = v.InferOutput<typeof safetyConfig>;

/** Lengths in metres, speeds in metres a second. */
export interface Limits {
  readonly minDistance: number;
  /** Where the slow zone begins. */
  readonly slowDistance: number;
  readonly approachSpeed: number;
  readonly maxSpeed: number;
  readonly blindSpeed: number;
  readonly maxDriveMs: number;
  readonly sensorTimeoutMs: number;
}

export const limitsOf = (config: Omit<SafetyConfig, "drive">): Limits => ({
  minDistance: config.min_obstacle_distance,
  slowDistance: config.min_obstacle_distance * config.slow_zone_multiplier,
  approachSpeed: Math.min(config.approach_speed_limit, config.max_speed),
  maxSpeed: config.max_speed,
  blindSpeed: Math.min(config.blind_mode_speed_limit, config.max_speed),
  maxDriveMs: config.max_drive_duration * 1000,
  sensorTimeoutMs: config.sensor_timeout_secs * 1000,
});
