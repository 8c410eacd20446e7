/** `svc rollback`: the binary before the last update is put back; the one in force is kept, so that a second call undoes it. */
import { existsSync } from "node:fs";
import { EXIT, SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { aboutBinary, binaryFile, type InstalledBinary, lockBinary } from "../update/installed-binary.ts";
import { refuseNewerDatabase, RESTART } from "./update.ts";

export async function run(context: CommandContext): Promise<number> {
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
  if (binary.resumed) return report(context, binary, { version: build.version, before: about.version });
  if (about.version === build.version && about.commit === build.commit) {
    throw new SvcError("ROLLBACK_UNAVAILABLE", "The previous binary is the one in force.", {
      hint: "An update was interrupted before its last step. Run: svc update",
    });
  }
  refuseNewerDatabase(context, about.schema_version, `the previous svc, ${about.version}`);
  binary.swap();
  return report(context, binary, { version: about.version, before: build.version });
}

function report(
  context: CommandContext,
  { file, previous }: Pick<InstalledBinary, "file" | "previous">,
  versions: { readonly version: string; readonly before: string },
): number {
  if (context.options.flag("json")) context.printJson({ file, ...versions, previous });
  else context.print(`rolled ${file} back to ${versions.version} (before: ${versions.before})\n${RESTART}`);
  return EXIT.ok;
}
