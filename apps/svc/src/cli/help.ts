/** `svc --help` and `svc <command> --help`, laid out by cac. */
import { cac } from "cac";
import type { Build } from "../main.ts";
import type { CommandEntry } from "./command.ts";
import { commandWord } from "./options.ts";
import { COMMANDS } from "./table/index.ts";

export function showHelp(build: Build, entry: CommandEntry | undefined): void {
  const cli = cac("svc");
  cli.help();
  cli.version(build.version);
  for (const { usage, summary, options, examples } of COMMANDS) {
    const command = cli.command(usage, summary);
    for (const [flags, description] of options) command.option(flags, description);
    for (const example of examples) command.example(`  ${example}`);
  }
  cli.parse(entry ? ["node", "svc", commandWord(entry), "--help"] : ["node", "svc", "--help"], { run: false });
}
