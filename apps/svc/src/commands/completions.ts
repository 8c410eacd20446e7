/** `svc completions bash|zsh|fish`, made from the same table as the help. */
import type { CommandContext, CommandEntry } from "../cli/command.ts";
import { actionWord, commandWord } from "../cli/options.ts";
import { COMMANDS } from "../cli/table/index.ts";

export async function run(context: CommandContext): Promise<number> {
  const shell = context.args[0];
  context.print(
    shell === "fish"
      ? fish()
      : shell === "zsh"
        ? `${"autoload -U +X bashcompinit && bashcompinit"}\n${bash()}`
        : bash(),
  );
  return 0;
}

const actionsOf = (entry: CommandEntry): string[] => (entry.actions ?? []).map(actionWord);

const longOptions = (entry: CommandEntry): string[] => [
  ...entry.options.map(([flags]) => /--[a-z0-9-]+/.exec(flags)![0]),
  "--help",
];

function bash(): string {
  const cases = COMMANDS.map(
    (entry) => `    ${commandWord(entry)}) words="${[...actionsOf(entry), ...longOptions(entry)].join(" ")}" ;;`,
  );
  return [
    "_svc() {",
    '  local words="" current="${COMP_WORDS[COMP_CWORD]}"',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    "  esac",
    `  [ "$COMP_CWORD" -eq 1 ] && words="${COMMANDS.map(commandWord).join(" ")} --help --version"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -F _svc svc",
  ].join("\n");
}

function fish(): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  return COMMANDS.flatMap((entry) => {
    const word = commandWord(entry);
    const seen = `-n "__fish_seen_subcommand_from ${word}"`;
    return [
      `complete -c svc -f -n "__fish_use_subcommand" -a ${word} -d ${quoted(entry.summary)}`,
      ...(entry.actions ? [`complete -c svc -f ${seen} -a "${actionsOf(entry).join(" ")}"`] : []),
      ...entry.options.map(
        ([flags, text]) => `complete -c svc ${seen} -l ${/--([a-z0-9-]+)/.exec(flags)![1]} -d ${quoted(text)}`,
      ),
    ];
  }).join("\n");
}
