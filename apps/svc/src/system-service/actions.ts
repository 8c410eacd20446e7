/** install, status and uninstall, each told as data; and the plan of the service that this very binary would be. */
import { statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { isSea } from "node:sea";
import { type Home, homeOf, loadConfig, type LoadedConfig, resolveAgents } from "@svc/config";
import { SvcError } from "@svc/contract";
import { callDaemon } from "@svc/gateway/control";
import type { CommandContext } from "../cli/command.ts";
import { type Command, commandText, type Manager, runCommand, type ServiceState, tryCommand } from "./manager.ts";
import type { Origin, ServicePlan } from "./plan.ts";
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

/** What the daemon needs after its turns have drained: features and control calls have five seconds each. */
const AFTER_DRAIN_SECS = 30;

/** Throws SERVICE_UNSUPPORTED, SERVICE_FORBIDDEN, USAGE, and what loading the config throws. */
export async function planOf({ build, env, options }: CommandContext): Promise<ServicePlan> {
  if (!isSea()) {
    const { recipe } = await build.load();
    throw new SvcError("SERVICE_UNSUPPORTED", "This svc runs from its sources, which no service can rely on.", {
      hint: `Build the binary and let it install itself: npx pnpm build ${recipe.profile}`,
    });
  }
  const system = options.flag("system") ? await systemUser(options.text("user-name"), env) : undefined;
  if (!system && options.text("user-name") !== undefined) {
    throw new SvcError("USAGE", "--user-name is for --system.", { hint: "See: svc service --help" });
  }
  const home = homeOf(system ? { SVC_HOME: env["SVC_HOME"]?.trim() || join(system.userHome, ".svc") } : env);
  if (system) assertOwned(home, system);
  const { features, catalogue } = await build.load();
  const config = await loadConfig({ home, env: {}, features, catalogue }).catch(missing);
  return {
    binary: process.execPath,
    home: home.root,
    workspaces: config ? workspacesOf(config, home) : [],
    stopSecs: (config?.core.daemon.drain_secs ?? 30) + AFTER_DRAIN_SECS,
    system,
    devices: catalogue.some(({ kind, included }) => kind === "hardware" && included),
  };
}

/** No config yet is no mistake: the daemon writes it. */
function missing(error: unknown): undefined {
  if (error instanceof SvcError && error.code === "CONFIG_NOT_FOUND") return undefined;
  throw error;
}

/** Those outside of the home. */
function workspacesOf({ core }: LoadedConfig, home: Home): string[] {
  const folders = [...resolveAgents(core).values()].map(({ workspace }) =>
    resolve(home.root, workspace ?? home.workspace),
  );
  const outside = folders.filter((folder) => {
    const path = relative(home.root, folder);
    return path === ".." || path.startsWith(`..${sep}`);
  });
  return [...new Set(outside)];
}

interface SystemUser {
  readonly user: string;
  readonly userHome: string;
  readonly uid: number;
}

async function systemUser(named: string | undefined, env: CommandContext["env"]): Promise<SystemUser> {
  if (process.getuid?.() !== 0) {
    throw new SvcError("SERVICE_FORBIDDEN", undefined, { hint: "Type: sudo svc service install --system" });
  }
  const user = named ?? env["SUDO_USER"];
  if (user === undefined || user === "") {
    throw new SvcError("USAGE", "Which user the service runs as is not known.", { hint: "Add: --user-name <user>" });
  }
  const [, , uid, , , userHome = ""] = (await passwdLine(user, env)).split(":");
  if (!/^[a-z_][a-z0-9_.-]*\$?$/i.test(user) || !/^\d+$/.test(uid ?? "") || !userHome.startsWith("/")) {
    throw new SvcError("USAGE", "There is no user of that name.", {
      hint: "Make one: useradd --system --create-home svc",
    });
  }
  return { user, userHome, uid: Number(uid) };
}

/** Not by reading /etc/passwd: users of a directory service are not in it. */
async function passwdLine(user: string, env: CommandContext["env"]): Promise<string> {
  const { ok, output } = await tryCommand(["getent", "passwd", "--", user], env);
  return ok ? output.trim() : "";
}

/** The unit names the home as the one place that may be written: it has to be there, and that user's. */
function assertOwned({ root }: Home, { user, uid }: SystemUser): void {
  const stats = statSync(root, { throwIfNoEntry: false });
  if (stats?.isDirectory() && stats.uid === uid) return;
  const what = stats === undefined ? "does not exist" : "does not belong to the user of the service";
  throw new SvcError("USAGE", `The home ${root} ${what}.`, {
    hint: `Make it as that user: sudo -u ${user} SVC_HOME=${root} svc init`,
  });
}
