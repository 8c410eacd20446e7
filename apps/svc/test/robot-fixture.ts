/** A robot on an emulated Arduino, and the daemon that drives it: how a movement begins, and when the motors stood. */
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";
import type { EmulatedRobot, RobotReport } from "@svc/testkit/real/emulated-robot";
import { expect } from "vitest";
import { UNGUARDED } from "./daemon.ts";

export const binary = fullestBinaryPath();
/** What the board allows between the last command and the end of the motors, whatever becomes of the daemon. */
export const LONGEST_MS = 600;
/**
 * Commands of a living daemon between a switch that is pressed and the motors' stop, which is one of them: a round of the sensors, of which
 * each asks one thing, a keep-alive, what was under way, and the stop. Counted, as a busy machine changes no count; how long it takes on a
 * line of known speed is in the package's reaction test.
 */
export const MOST_COMMANDS = 9;

/** `path`: a bridge's, or that of a serial port. `more`: keys of [safety]. */
export const configOf = (path: string, more = ""): string => `${UNGUARDED}
[[peripherals.boards]]
board = "arduino-uno"
transport = "${path.startsWith("tcp:") ? "bridge" : "serial"}"
path = "${path}"

[safety]
drive = { board = "arduino0", left = 5, right = 6 }
estop_pin = 2
sensor_timeout_secs = 5
max_drive_duration = 300
${more}

[[safety.sensors]]
board = "arduino0"
kind = "distance"
pin = 7
`;

export const svc = async (home: string, ...args: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await runBinary(args, { home, binary });
  return `${stdout}${stderr}`.trim();
};

/** A daemon that drives the robot towards a wall that is far away. `sensor`: what the firmware's sensor does; lengths in millimetres. */
export async function driving(
  board: EmulatedRobot,
  daemon: RunningBinary,
  sensor: { readonly wall?: number; readonly lie?: number } = {},
): Promise<{ readonly ended: Promise<string> }> {
  await board.ask("sensor", { frozen: 0, dead: 0, wall: 30_000, ...sensor });
  // A machine that is busy may hold the monitor up, which ends a movement as well; then it is asked again.
  for (;;) {
    const { commands } = await board.report();
    const state = { isOver: false };
    const driven = svc(
      daemon.home,
      "tools",
      "run",
      "drive",
      "--input",
      '{"direction":"forward","speed":0.2,"seconds":300}',
    ).finally(() => (state.isOver = true));
    while (!state.isOver) {
      const { moves, commands: now } = await board.report();
      if (moves === 1 && now > commands + 2) return { ended: driven };
    }
    const text = await driven;
    if (!HELD_UP.test(text) && !text.includes("SAFETY_REFUSED")) throw new Error(text);
  }
}

/** The report once the motors stand. */
export async function standing(board: EmulatedRobot): Promise<RobotReport> {
  for (;;) {
    const report = await board.report();
    if (report.moves === 0) return report;
  }
}

/** What ends a movement on a machine that is busy with something else; the motors stop all the same. */
export const HELD_UP = /"(?:late|board_lost|sensor_stale)"/;

/** From the last command to the stop, by the board's clock. */
export const lifeOf = ({ set_at: set, stopped_at: stopped }: RobotReport): number => stopped - set;

/**
 * From what went wrong to the stop, by the board's clock, to be shown: it holds how long this test and the daemon waited for the machine.
 * What the board guarantees whatever they do is checked.
 */
export function reactionOf(report: RobotReport): number {
  expect(lifeOf(report)).toBeLessThanOrEqual(LONGEST_MS);
  return report.stopped_at - report.fault_at;
}
