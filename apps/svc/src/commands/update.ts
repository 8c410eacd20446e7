/** `svc update [--check]`: replaces this binary with the newest release, after its signature and checksums were verified. `svc rollback`. */
import { existsSync } from "node:fs";
import { homeOf } from "@svc/config/home";
import { EXIT, SvcError } from "@svc/contract";
import { compareVersions, type ReleaseManifest } from "@svc/kit/releases";
import { schemaOfFile } from "@svc/store";
import type { CommandContext } from "../cli/command.ts";
import { aboutBinary, binaryFile, diskError, type InstalledBinary, lockBinary } from "../binary/installed-binary.ts";
import { openRelease } from "../binary/release.ts";

/** Beside `--from`: for a fleet with a mirror of its own. */
const FROM_VARIABLE = "SVC_UPDATE_URL";
const KEY_VARIABLE = "SVC_UPDATE_KEY";

export async function run(context: CommandContext): Promise<number> {
  const { build, options } = context;
  const file = binaryFile();
  const { folder, keys } = sourceOf(context);
  const release = await openRelease(folder, keys);
  const { profile } = await build.load();
  const target = `${process.platform}-${process.arch}`;
  const { version } = release.manifest;
  const order = compareVersions(version, build.version);
  const wanted = order > 0 || (order === 0 && options.flag("reinstall"));
  const report = { current: build.version, newest: version, profile, target };
  if (!wanted) {
    tell(context, { ...report, update: false }, upToDate(build.version, version));
    return EXIT.ok;
  }
  const found = release.buildFor(profile, target);
  refuseNewerDatabase(context, release.manifest.schema_version, `svc ${version}`);
  if (options.flag("check")) {
    tell(context, { ...report, update: true }, `svc ${version} is available (this is ${build.version}): svc update`);
    return EXIT.ok;
  }
  using binary = lockBinary(file);
  try {
    await release.download(found, binary.staged);
  } catch (error) {
    throw diskError(file, error);
  }
  await proveStarts(binary.staged, release.manifest, target);
  binary.install();
  tell(
    context,
    { ...report, update: true, updated: true, file, previous: binary.previous },
    [`updated ${file} to ${version} (before: ${build.version})`, RESTART, "To go back: svc rollback"].join("\n"),
  );
  return EXIT.ok;
}

export const RESTART =
  "A running daemon is still the old one. Restart the service: systemctl --user restart svc, or end svc daemon and start it again.";

function tell({ options, print, printJson }: CommandContext, value: object, text: string): void {
  if (options.flag("json")) printJson(value);
  else print(text);
}

const upToDate = (current: string, newest: string): string =>
  current === newest
    ? `svc ${current} is the newest release`
    : `svc ${current} is newer than the release, which is ${newest}`;

/** Throws UPDATE_UNAVAILABLE when nothing says where releases are, or who signs them. */
function sourceOf({ build, env, options }: CommandContext): { folder: string; keys: readonly string[] } {
  const folder = options.text("from") ?? env[FROM_VARIABLE] ?? build.releases.url;
  const key = options.text("key") ?? env[KEY_VARIABLE];
  const keys = key === undefined ? build.releases.keys : [key];
  if (folder.trim() === "") {
    throw new SvcError("UPDATE_UNAVAILABLE", "This build has no address of releases.", {
      hint: `Name it with --from <url> or ${FROM_VARIABLE}.`,
    });
  }
  if (keys.length === 0) {
    throw new SvcError("UPDATE_UNAVAILABLE", "This build trusts no key that signs releases.", {
      hint: `Name it with --key <public key> or ${KEY_VARIABLE}.`,
    });
  }
  return { folder, keys };
}

/** Throws STORE_NEWER: that binary could not open the database any more. */
export function refuseNewerDatabase({ env }: CommandContext, schema: number, what: string): void {
  const { database } = homeOf(env);
  const have = schemaOfFile(database);
  if (have <= schema) return;
  throw new SvcError(
    "STORE_NEWER",
    `The database of this home is newer than ${what} (schema ${have}, not ${schema}).`,
    {
      hint: "Keep this version, or restore a backup that the other one made.",
    },
  );
}

/** A binary that does not start here, or is another than the manifest says, never gets the name. */
async function proveStarts(file: string, { version, commit }: ReleaseManifest, target: string): Promise<void> {
  const about = await aboutBinary(file);
  if (about?.version === version && about.commit === commit && about.target === target) return;
  const why = about
    ? `the binary says that it is ${about.version} for ${about.target}`
    : "the binary does not start here";
  throw new SvcError("UPDATE_REFUSED", `The release is refused: ${why}. Nothing was changed.`, {
    hint: "Report it: the release is broken, or made for another kind of machine.",
  });
}

/** `svc rollback`: the binary before the last update is put back; the one in force is kept, so that a second call undoes it. */
export async function rollback(context: CommandContext): Promise<number> {
  const { build } = context;
  const file = binaryFile();
  using binary = lockBinary(file);
  if (!existsSync(binary.previous)) {
    throw new SvcError("ROLLBACK_UNAVAILABLE", undefined, { hint: "svc update keeps one from its first update on." });
  }
  const about = await aboutBinary(binary.previous);
  if (!about) {
    throw new SvcError("ROLLBACK_UNAVAILABLE", "The previous binary does not start, so it stays where it is.", {
      hint: `It is ${binary.previous}.`,
    });
  }
  // This is the binary that was put back; only the other one had not been put away yet.
  if (binary.resumed) return reportRollback(context, binary, { version: build.version, before: about.version });
  if (about.version === build.version && about.commit === build.commit) {
    throw new SvcError("ROLLBACK_UNAVAILABLE", "The previous binary is the one in force.", {
      hint: "An update was interrupted before its last step. Run: svc update",
    });
  }
  refuseNewerDatabase(context, about.schema_version, `the previous svc, ${about.version}`);
  binary.swap();
  return reportRollback(context, binary, { version: about.version, before: build.version });
}

function reportRollback(
  context: CommandContext,
  { file, previous }: Pick<InstalledBinary, "file" | "previous">,
  versions: { readonly version: string; readonly before: string },
): number {
  if (context.options.flag("json")) context.printJson({ file, ...versions, previous });
  else context.print(`rolled ${file} back to ${versions.version} (before: ${versions.before})\n${RESTART}`);
  return EXIT.ok;
}
