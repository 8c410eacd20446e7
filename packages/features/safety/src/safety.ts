/** The feature: the robot of the section, its monitor, and what reaches it. */
import { type Contributions, type FeatureContext, provide } from "@svc/contract";
import { RESERVED_BOARDS } from "@svc/kit/hardware";
import { BoardRobot } from "./board-robot.ts";
import { limitsOf, type SafetyConfig } from "./config.ts";
import { EmergencyStop } from "./emergency-stop.ts";
import { routesOf } from "./routes.ts";
import { SafeDrive } from "./safe-drive.ts";
import { SafetyMonitor } from "./safety-monitor.ts";
import { SimulatedRobot } from "./simulator.ts";
import { toolsOf } from "./tools.ts";

/** Never the same: each reload makes the feature anew, which stops the robot. */
export const survey = async (): Promise<string> => crypto.randomUUID();

export function create(context: FeatureContext<SafetyConfig>): Contributions {
  const { config, clock, log, state, publish, audit } = context;
  const limits = limitsOf(config);
  const emergencyStop = new EmergencyStop(state);
  const simulated =
    config.drive.backend === "simulated" ? new SimulatedRobot({ clock, seed: config.drive.seed }) : undefined;
  const boards = simulated ? undefined : new BoardRobot(config, context);
  const robot = simulated ?? boards!;
  const monitor: SafetyMonitor = new SafetyMonitor({
    robot,
    clock,
    log,
    limits,
    emergencyStop,
    onStop: (stopped) => drive.recordStop(stopped),
  });
  const drive = new SafeDrive({ monitor, robot, emergencyStop, limits, clock, log, publish, audit });
  return {
    tools: toolsOf(drive, limits),
    routes: routesOf(drive, simulated && (() => simulated.scene())),
    provides: boards ? [provide(RESERVED_BOARDS, { reasonFor: (alias) => reasonFor(boards, alias) })] : [],
    promptContext: () =>
      emergencyStop.latch
        ? "The robot's emergency stop is latched. Only a person can reset it; don't try to drive."
        : "",
    async register(signal) {
      signal.throwIfAborted();
      await emergencyStop.load();
      if (emergencyStop.latch) log.warn("the emergency stop is latched", { by: emergencyStop.latch.by });
    },
    async run(signal) {
      // During a reload the monitor before this one may have latched it.
      await emergencyStop.load();
      await monitor.run(signal);
    },
    async shutdown() {
      // The loop has stopped the robot, where it ran.
      await monitor.settled();
    },
  };
}

const reasonFor = (robot: BoardRobot, alias: string): string | undefined =>
  robot.boards.has(alias) ? "it belongs to the robot of [safety]. Use drive and stop." : undefined;
