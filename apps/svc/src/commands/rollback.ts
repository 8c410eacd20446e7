/** `svc rollback`: the binary before the last update is put back; the one in force is kept, so that a second call undoes it. */
import { existsSync } from "node:fs";
import { EXIT, SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { aboutBinary, binaryFile, lockBinary } from "../update/installed-binary.ts";
import { refuseNewerDatabase, RESTART } from "./update.ts";

export async function run(context: CommandContext): Promise<number> {
  const { build, options } = context;
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
  if (about.version === build.version && about.commit === build.commit) {
    throw new SvcError("ROLLBACK_UNAVAILABLE", "The previous binary is the one in force.", {
      hint: "An update was interrupted before its last step. Run: svc update",
    });
  }
  refuseNewerDatabase(context, about.schema_version, `the previous svc, ${about.version}`);
  binary.swap();
  if (options.flag("json")) {
    context.printJson({ file, version: about.version, before: build.version, previous: binary.previous });
  } else {
    context.print(`rolled ${file} back to ${about.version} (before: ${build.version})\n${RESTART}`);
  }
  return EXIT.ok;
}
