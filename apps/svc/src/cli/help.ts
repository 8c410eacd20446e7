/** `svc --help` and `svc <command> --help`, laid out by cac. */
import { cac } from "cac";
import type { Build } from "../main.ts";
import type { CommandEntry } from "./command.ts";
import { commandWord } from "./options.ts";
import { COMMANDS } from "./table/index.ts";

export function showHelp(build: Build, entry: CommandEntry | undefined): void {
  const cli = cac("svc");
  cli.help((sections) => (entry?.actions ? withActions(sections, entry) : sections));
  cli.version(build.version);
  for (const { usage, summary, options, examples } of COMMANDS) {
    const command = cli.command(usage, summary);
    for (const [flags, description] of options) command.option(flags, description);
    for (const example of examples) command.example(`  ${example}`);
  }
  cli.parse(entry ? ["node", "svc", commandWord(entry), "--help"] : ["node", "svc", "--help"], { run: false });
}

type Section = { title?: string; body: string };

/** What the first argument may be comes right after the usage line. */
function withActions([name, usage, ...rest]: Section[], entry: CommandEntry): Section[] {
  const body = entry.actions!.map((action) => `  svc ${commandWord(entry)} ${action}`).join("\n");
  return [name!, usage!, { title: "Actions", body }, ...rest];
}
