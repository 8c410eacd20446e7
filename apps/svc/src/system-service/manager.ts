/** What keeps services on this system, and how it is told about ours. */
import { execFile } from "node:child_process";
import { SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
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

/** Tells the service manager something, by the command that an operator would type. */
export type Command = readonly [program: string, ...words: string[]];

interface Outcome {
  readonly ok: boolean;
  readonly output: string;
}

/** Stopping waits until the daemon has drained. */
const LONGEST_MS = 180_000;

/** Never rejects: a program that is not there did not succeed. */
export function tryCommand(
  [program, ...words]: Command,
  env: Readonly<Record<string, string | undefined>>,
  timeout = LONGEST_MS,
): Promise<Outcome> {
  return new Promise((resolve) => {
    execFile(program, words, { env, timeout, encoding: "utf8" }, (error, stdout, stderr) => {
      resolve({ ok: error === null, output: error === null ? stdout : stderr.trim() || stdout.trim() });
    });
  });
}

/** Throws SERVICE_FAILED. */
export async function runCommand(command: Command, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { ok, output } = await tryCommand(command, env);
  if (ok) return;
  throw new SvcError("SERVICE_FAILED", `\`${commandText(command)}\` failed${output === "" ? "." : `:\n${output}`}`, {
    hint: "The service file is in place. Correct what it says, then type this command again.",
  });
}

/** To be typed. */
export const commandText = (command: Command): string => command.map(quoted).join(" ");

const quoted = (text: string): string => (process.platform === "win32" ? quotedForCmd(text) : quotedForShell(text));

/** No file has a quote in its name there. */
const quotedForCmd = (text: string): string => (/^[\w./\\:@=+-]+$/.test(text) ? text : `"${text}"`);

const quotedForShell = (text: string): string =>
  /^[\w./:@=+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
