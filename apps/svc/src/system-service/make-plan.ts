/** The plan of the service that this very binary would be, on this home. */
import { statSync } from "node:fs";
import { isSea } from "node:sea";
import { join, relative, resolve, sep } from "node:path";
import { SvcError } from "@svc/contract";
import { type Home, type LoadedConfig, homeOf, loadConfig, resolveAgents } from "@svc/config";
import type { CommandContext } from "../cli/command.ts";
import type { ServicePlan } from "./plan.ts";
import { tryCommand } from "./run-command.ts";

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
