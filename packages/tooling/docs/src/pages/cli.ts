/** docs/reference/cli.md: every command, from the table that the help and the completions are made of. */
import type { Command } from "../code/commands.ts";
import { markdownTable } from "../markdown.ts";
import { cell, codeCell, type GeneratedPage, madeFrom, prose } from "./page.ts";

/** `exits`: codes by their name in the contract. */
export const cliPage = (commands: readonly Command[], exits: Readonly<Record<string, number>>): GeneratedPage => ({
  path: "docs/reference/cli.md",
  render: () => [INTRODUCTION, exitTable(exits), "", ...commands.map(command)].join("\n"),
});

const INTRODUCTION = `# Commands

${madeFrom("apps/svc/src/command-table.ts")}

\`svc --help\` lists the commands, \`svc <command> --help\` shows one, \`svc --version\` names the build. Results go to standard
output, everything else to standard error, so that \`svc … --json | jq\` works. The commands of a home find its running daemon by
\`$SVC_HOME\` (default \`~/.svc\`).

## Exit codes

As in \`sysexits.h\`; which error ends with which is in the [list of errors](errors.md).
`;

/** What a code means, by its name in the contract. A code without words here fails the test of this page. */
export const EXIT_MEANINGS: Readonly<Record<string, string>> = {
  ok: "Done.",
  failure: "The command found a problem, or was cancelled.",
  usage: "The arguments are wrong; the error suggests a correction.",
  data: "The input is malformed: a body, an input, a backup.",
  noInput: "A file or key does not exist.",
  unavailable: "Something needed is not running or can't be reached: the daemon, the model, a sandbox.",
  software: "Internal error; the log has the details.",
  os: "The operating system refused an operation.",
  cantCreate: "A file or folder can't be created.",
  io: "The disk is full, or reading or writing failed.",
  tempFail: "Not now: another svc has this home, or the service is busy. Try again.",
  noPermission: "The policy, the token or the system does not allow it.",
  config: "The config is invalid; every problem is printed with its line.",
};

const exitTable = (exits: Readonly<Record<string, number>>): string =>
  markdownTable(
    ["Code", "Meaning"],
    Object.entries(exits).map(([name, code]) => [`\`${code}\``, EXIT_MEANINGS[name] ?? ""]),
  );

function command({ usage, summary, options, examples, actions }: Command): string {
  const word = usage.split(" ")[0] ?? "";
  const forms = (actions ?? [usage.slice(word.length + 1)]).map((rest) => `svc ${word} ${rest}`.trim());
  return [
    `## \`svc ${word}\``,
    "",
    `${prose(summary[0]?.toUpperCase() ?? "")}${prose(summary.slice(1))}.`,
    "",
    ...fenced(
      "text",
      forms.map((form) => `${form}${options.length > 0 ? " [options]" : ""}`),
    ),
    ...(options.length === 0 ? [] : [optionTable(options), ""]),
    ...(examples.length === 0 ? [] : ["Examples:", "", ...fenced("sh", examples)]),
  ].join("\n");
}

const optionTable = (options: Command["options"]): string =>
  markdownTable(
    ["Option", "Meaning"],
    options.map(([flags, description]) => [codeCell(flags), cell(description)]),
  );

const fenced = (language: string, lines: readonly string[]): string[] => [`\`\`\`${language}`, ...lines, "```", ""];
