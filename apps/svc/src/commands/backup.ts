/** `svc backup [file]`: everything the home knows in one file, while the service goes on. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Home, homeOf } from "@svc/config";
import { EXIT, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { copyDatabase } from "@svc/store";
import { daemonAt } from "../service/control.ts";
import { makeBackup } from "../backup/make-backup.ts";
import { CONFIG, KEY } from "../backup/manifest.ts";
import type { CommandContext } from "../cli/command.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options } = context;
  const home = homeOf(context.env);
  const target = targetOf(context.args[0]);
  const workspace = options.flag("workspace");
  if (workspace && !existsSync(home.workspace)) {
    throw new SvcError("USAGE", "There is no workspace folder in the home.", { hint: "Leave out --workspace." });
  }
  const { manifest, bytes, leftOut } = await makeBackup(home, {
    target,
    workspace,
    withKey: !options.flag("without-key"),
    copyDatabase: (to) => copyLive(home, to),
    svcVersion: context.build.version,
    clock: systemClock,
  });
  const has = (path: string): boolean => manifest.files.some((file) => file.path === path);
  if (options.flag("json")) {
    const { created_at, schema_version, files } = manifest;
    const sums = { files: files.length, left_out: leftOut, with_key: has(KEY) };
    context.printJson({ file: target, bytes, created_at, schema_version, ...sums });
  } else {
    context.print(`wrote ${target} (${bytes} bytes, ${manifest.files.length} files)`);
    if (leftOut > 0)
      context.print(
        `left out of the workspace: ${leftOut} (links, special files, files with several names, odd names)`,
      );
    if (!has(CONFIG)) context.print("not in it: a config outside of the home");
    if (has(KEY)) context.print(WITH_KEY);
    else if (existsSync(home.secretKey)) context.print(WITHOUT_KEY);
  }
  return EXIT.ok;
}

const WITH_KEY =
  "It contains the key of the encrypted secrets: anyone with this file can read them. To leave the key out: --without-key";
const WITHOUT_KEY = "It does not hold the key of the encrypted secrets: keep .secret_key of the home elsewhere.";

/** A folder takes the backup under the default name. */
function targetOf(named: string | undefined): string {
  const time = new Date(systemClock.now()).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const name = `svc-backup-${time}.tar.gz`;
  if (named === undefined) return resolve(name);
  if (named.trim() === "") throw new SvcError("USAGE", "The backup needs the name of a file.");
  const isFolder = statSync(named, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return isFolder ? resolve(join(named, name)) : resolve(named);
}

/** Beside a running daemon, without a word to it; only one that started on a full disk has the database to itself. */
async function copyLive(home: Home, to: string): Promise<void> {
  try {
    await copyDatabase(home.database, to);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code !== "STORE_FAILED") throw error;
    await daemonAt(home.controlSocket)({ name: "backup", body: { file: to } }).catch((cause: unknown) => {
      throw cause instanceof SvcError && cause.code === "NOT_RUNNING" ? error : cause;
    });
  }
}
