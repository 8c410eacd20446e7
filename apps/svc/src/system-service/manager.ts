/** What keeps services on this system, and how it is told about ours. */
import { type CommandContext } from "../cli/command.ts";
import { SvcError } from "@svc/contract";
import type { Command } from "./run-command.ts";
import type { ServicePlan } from "./plan.ts";

export interface Manager {
  readonly name: "systemd" | "launchd" | "task-scheduler";
  /** Where the service file goes. */
  readonly file: string;
  /** Throws USAGE for a path that the file can't hold. */
  text(plan: ServicePlan): string;
  /** Whether it can be told anything now: not in a container, and not before the first login. */
  answers(): Promise<boolean>;
  /** After the file was written. `start`: now too, and not only from the next start of the machine or session on. */
  enable(start: boolean): readonly Command[];
  /** So that a service that runs takes up a changed file. */
  restart(): readonly Command[];
  /** Before the file is removed. */
  disable(): readonly Command[];
  /** After it was removed. */
  forget(): readonly Command[];
  /** What the operator should know of a service that was installed. */
  notes(): readonly string[];
  state(): Promise<ServiceState>;
}

export interface ServiceState {
  /** In the manager's own words; undefined: it does not answer. */
  readonly state: string | undefined;
  readonly enabled: boolean | undefined;
  readonly running: boolean;
  readonly pid: number | undefined;
}

export interface ManagerOptions {
  readonly env: CommandContext["env"];
  readonly system: boolean;
}

/** Throws SERVICE_UNSUPPORTED. */
export async function managerOf(
  options: ManagerOptions,
  platform: NodeJS.Platform = process.platform,
): Promise<Manager> {
  if (platform === "linux") {
    const { systemd } = await import("./systemd.ts");
    return systemd(options);
  }
  if (platform === "darwin") {
    const { launchd } = await import("./launchd.ts");
    return launchd(options);
  }
  if (platform === "win32") {
    const { taskScheduler } = await import("./task-scheduler.ts");
    return taskScheduler(options);
  }
  throw new SvcError("SERVICE_UNSUPPORTED", undefined, {
    hint: "Let the system's own scheduler run `svc daemon` at start, as the user that owns the home.",
  });
}
