/** install, status and uninstall, each told as data. */
import { SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import { homeOf } from "@svc/config";
import type { CommandContext } from "../cli/command.ts";
import type { Manager, ServiceState } from "./manager.ts";
import type { Origin } from "./marker.ts";
import type { ServicePlan } from "./plan.ts";
import { type Command, commandText, runCommand, tryCommand } from "./run-command.ts";
import { assertOurs, readServiceFile, removeServiceFile, writeServiceFile } from "./service-file.ts";

export interface Done {
  readonly file: string;
  /** The file was written or removed; false: it was so already. */
  readonly changed: boolean;
  /** The service runs, or was stopped. */
  readonly done: boolean;
  /** What is left to type. */
  readonly commands: readonly string[];
  readonly notes: readonly string[];
}

type Env = CommandContext["env"];

/** Throws SERVICE_EDITED and SERVICE_FAILED. */
export async function install(manager: Manager, plan: ServicePlan, env: Env, force: boolean): Promise<Done> {
  const { file } = manager;
  const text = manager.text(plan);
  const found = readServiceFile(file);
  assertOurs(file, found, force);
  if (found && !force && !found.text.includes(homeLine(text))) {
    throw new SvcError("SERVICE_EDITED", `${file} is the service of another home.`, {
      hint: "Take that one away first (svc service uninstall), or replace it with --force.",
    });
  }
  const changed = found?.text !== text;
  const { running } = await manager.state();
  // Another daemon on the home: the service could not start, and would try again and again.
  const busy = !running && (await isRunning(plan.home));
  if (changed) writeServiceFile(file, text);
  const answers = await manager.answers();
  if (answers) for (const command of manager.enable(!busy)) await runCommand(command, env);
  const left = !answers || busy ? manager.enable(true) : running && changed ? manager.restart() : [];
  const notes = [...manager.notes(), ...environmentNotes(env), ...(busy ? [BUSY] : running && changed ? [OLD] : [])];
  return { file, changed, done: answers && !busy, commands: left.map(commandText), notes };
}

const OLD = "It still runs as the old file said.";
const BUSY = "A daemon runs on this home already. Stop it, then start the service.";

/** Throws SERVICE_EDITED and SERVICE_FAILED. */
export async function uninstall(manager: Manager, env: Env, force: boolean): Promise<Done> {
  const { file } = manager;
  const found = readServiceFile(file);
  if (found === undefined) return { file, changed: false, done: true, commands: [], notes: [] };
  // What svc did not write it never removes.
  assertOurs(file, found, force && found.origin === "edited");
  const answers = await manager.answers();
  if (answers) for (const command of manager.disable()) await stopped(command, env);
  removeServiceFile(file);
  if (answers) for (const command of manager.forget()) await runCommand(command, env);
  const left = answers ? [] : [...manager.disable(), ...manager.forget()].map(commandText);
  return { file, changed: true, done: answers, commands: left, notes: [] };
}

/** One that is not loaded can't be stopped, and need not be. */
async function stopped(command: Command, env: Env): Promise<void> {
  const { ok, output } = await tryCommand(command, env);
  if (!ok && !/not loaded|does not exist|no such process|could not find/i.test(output)) await runCommand(command, env);
}

export interface Status extends ServiceState {
  readonly manager: Manager["name"];
  readonly file: string;
  readonly installed: Origin | "absent";
}

export async function status(manager: Manager): Promise<Status> {
  const found = readServiceFile(manager.file);
  const state = await manager.state();
  return { manager: manager.name, file: manager.file, installed: found?.origin ?? "absent", ...state };
}

const homeLine = (text: string): string => text.split("\n").find((line) => line.includes("SVC_HOME=")) ?? text;

async function isRunning(root: string): Promise<boolean> {
  try {
    const { controlSocket } = homeOf({ SVC_HOME: root });
    await callDaemon({ socketFile: controlSocket, name: "ping", signal: AbortSignal.timeout(2000) });
    return true;
  } catch (error) {
    return !(error instanceof SvcError && error.code === "NOT_RUNNING");
  }
}

function environmentNotes(env: Env): string[] {
  const names = Object.keys(env).filter((name) => name.startsWith("SVC__"));
  if (names.length === 0) return [];
  return [`The service does not get these variables of this shell: ${names.join(", ")}. Put them into the config.`];
}
