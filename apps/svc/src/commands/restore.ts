/** `svc restore <file>`: the home as it was when the backup was made, under a running daemon too. */
import { resolve } from "node:path";
import { type Home, homeOf } from "@svc/config";
import { EXIT, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { lockHome } from "@svc/store";
import { daemonAt } from "../service/control.ts";
import type { Manifest } from "../backup/manifest.ts";
import { type PreparedRestore, prepareRestore, restoredConfig } from "../backup/prepare-restore.ts";
import type { CommandContext } from "../cli/command.ts";
import { untilReplaced } from "../service/running-daemon.ts";

export async function run(context: CommandContext): Promise<number> {
  const home = homeOf(context.env);
  const { atTerminal, confirmed } = await import("../cli/prompts.ts");
  const sure = context.options.flag("yes");
  if (!sure && !atTerminal()) {
    throw new SvcError("USAGE", "svc restore replaces what the home holds.", { hint: "Say so with --yes." });
  }
  const withWaiting = context.options.flag("with-waiting");
  using restore = await prepareRestore(home, resolve(context.args[0]!), { clock: systemClock, withWaiting });
  if (!sure && !(await confirmed(question(home, restore.manifest)))) {
    context.print("nothing was changed");
    return EXIT.failure;
  }
  const problem = await configProblem(context, home, restore);
  const url = await putInPlace(home, restore, problem);
  tell(context, restore, url, problem);
  return EXIT.ok;
}

const question = ({ root }: Home, { created_at: at, svc_version: version, files }: Manifest): string =>
  `Put back what ${root} was at ${at} (svc ${version}, ${files.length} files)? What is there now is kept aside.`;

/** Without a daemon here and now; a daemon does it between its two lives. Resolves with the address of the second. */
async function putInPlace(
  home: Home,
  restore: PreparedRestore,
  problem: SvcError | undefined,
): Promise<string | undefined> {
  const unlock = lockIfFree(home);
  if (unlock) {
    try {
      restore.apply();
    } finally {
      unlock();
    }
    return undefined;
  }
  // A daemon would go down for it and not come up again.
  if (problem) throw problem;
  return restoreLive(home, restore);
}

function lockIfFree(home: Home): (() => void) | undefined {
  try {
    return lockHome(home.lock);
  } catch (error) {
    if (error instanceof SvcError && error.code === "ALREADY_RUNNING") return undefined;
    throw error;
  }
}

async function restoreLive(home: Home, restore: PreparedRestore): Promise<string> {
  const call = daemonAt(home.controlSocket);
  const { instance } = await call({ name: "status" }).catch(busy);
  await call({ name: "restore", body: { folder: restore.folder } });
  const { url } = await untilReplaced(call, instance).catch((cause: unknown) => {
    throw restore.applied() ? notUp(restore, cause) : cause;
  });
  if (restore.applied()) return url;
  throw new SvcError("HOME_UNWRITABLE", "The daemon could not put the files in place; the old ones are in force.", {
    hint: "See: svc logs",
  });
}

const notUp = (restore: PreparedRestore, cause: unknown): SvcError =>
  new SvcError("NOT_RUNNING", "The files are restored, but the daemon did not come up again.", {
    cause,
    hint: `See: svc logs. What was there before: ${restore.previous() ?? "nothing"}`,
  });

/** Somebody has the home, and it is no daemon: a command such as svc chat. */
function busy(error: unknown): never {
  throw error instanceof SvcError && error.code === "NOT_RUNNING" ? new SvcError("ALREADY_RUNNING") : error;
}

/** Whether this build can start with the config of the backup, and read its secrets. */
async function configProblem(
  context: CommandContext,
  home: Home,
  restore: PreparedRestore,
): Promise<SvcError | undefined> {
  try {
    await restoredConfig(home, restore, await context.build.load(), context.env);
    return undefined;
  } catch (error) {
    if (error instanceof SvcError) return error;
    throw error;
  }
}

function tell(
  context: CommandContext,
  restore: PreparedRestore,
  url: string | undefined,
  problem: SvcError | undefined,
): void {
  const { created_at, svc_version, files } = restore.manifest;
  const previous = restore.previous() ?? null;
  if (context.options.flag("json")) {
    const warning = problem?.message ?? null;
    context.printJson({
      restored: true,
      created_at,
      svc_version,
      files: files.length,
      kept: previous,
      set_aside: { ...restore.setAside },
      url: url ?? null,
      warning,
    });
    return;
  }
  context.print(`restored ${files.length} files of ${created_at}`);
  if (previous !== null) context.print(`what was there before: ${previous}`);
  const { messages, deliveries, runs } = restore.setAside;
  if (messages + deliveries > 0) {
    context.print(
      `messages that waited then may have been answered since, and are set aside: ${messages} in, ${deliveries} out`,
    );
    context.print("take one up: svc inbox list --state dropped, svc inbox replay <id>");
  }
  if (runs > 0)
    context.print(`runs of procedures that were under way then may have gone on since, and are cancelled: ${runs}`);
  context.print("paired is who was paired then, a device revoked since included; look at: svc devices list");
  if (problem) context.print(`warning: the restored config can't be used yet: ${problem.message}`);
  context.print(url === undefined ? "Next: svc daemon" : `the daemon listens on ${url}`);
}
