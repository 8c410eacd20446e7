/** `svc --help`, by groups; `svc <command> --help`, laid out by cac. */
import { cac } from "cac";
import type { Build } from "../main.ts";
import { columns, tint } from "./output.ts";
import type { CommandEntry } from "./command.ts";
import { commandWord } from "./options.ts";
import { GROUPS } from "../command-table.ts";

export function showHelp(build: Build, entry: CommandEntry | undefined): void {
  if (entry) showCommand(build, entry);
  else process.stdout.write(`${overview(build)}\n`);
}

function overview({ version }: Build): string {
  const rows = GROUPS.flatMap(({ commands }) => commands).map((entry) => [`  ${commandWord(entry)}`, entry.summary]);
  const lines = columns(rows).split("\n");
  const groups = GROUPS.map(({ title, commands }) => {
    const own = lines.splice(0, commands.length);
    return [tint("bold", title), ...own].join("\n");
  });
  return [
    `svc/${version}`,
    `${tint("bold", "Usage:")} svc <command> [options]`,
    ...groups,
    [
      tint("bold", "More"),
      "  svc <command> --help   options and examples of a command",
      "  svc --version          the build (--json: with its platform and database schema)",
    ].join("\n"),
  ].join("\n\n");
}

function showCommand(build: Build, entry: CommandEntry): void {
  const cli = cac("svc");
  cli.help((sections) => inBold(entry.actions ? withActions(sections, entry) : sections));
  cli.version(build.version);
  const { usage, summary, options, examples } = entry;
  const command = cli.command(usage, summary);
  for (const [flags, description] of options) command.option(flags, description);
  for (const example of examples) command.example(`  ${example}`);
  cli.parse(["node", "svc", commandWord(entry), "--help"], { run: false });
}

type Section = { title?: string; body: string };

/** What the first argument may be comes right after the usage line. */
function withActions([name, usage, ...rest]: Section[], entry: CommandEntry): Section[] {
  const body = entry.actions!.map((action) => `  svc ${commandWord(entry)} ${action}`).join("\n");
  return [name!, usage!, { title: "Actions", body }, ...rest];
}

const inBold = (sections: Section[]): Section[] =>
  sections.map((section) =>
    section.title === undefined ? section : { ...section, title: tint("bold", section.title) },
  );
