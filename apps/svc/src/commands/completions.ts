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

/** Fixed words are in the script; names and keys are asked for. They are anybody's words: none is ever evaluated. */
function bash(): string {
  const cases = COMMANDS.map(
    (entry) => `    ${commandWord(entry)}) words="${[...actionsOf(entry), ...longOptions(entry)].join(" ")}" ;;`,
  );
  const named = COMMANDS.filter(({ actions }) => !actions).map(commandWord);
  return [
    "_svc() {",
    '  local words="" word current="${COMP_WORDS[COMP_CWORD]}"',
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    "  esac",
    `  [ "$COMP_CWORD" -eq 1 ] && words="${COMMANDS.map(commandWord).join(" ")} --help --version"`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    `  case "$COMP_CWORD \${COMP_WORDS[1]}" in 1\\ *) return ;; 2\\ ${named.join("|2\\ ")}) ;; 2\\ *) return ;; esac`,
    '  [ "${current#-}" = "$current" ] || return',
    '  [ "$COMP_CWORD" -ge 3 ] && COMPREPLY=()',
    "  while IFS= read -r word; do",
    '    COMPREPLY+=("$(printf %q "$word")")',
    '  done < <(svc __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)',
    "}",
    "complete -F _svc svc",
  ].join("\n");
}

function fish(): string {
  const quoted = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
  const names =
    'complete -c svc -f -n "not __fish_use_subcommand" -a "(svc __complete (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)"';
  const words = COMMANDS.flatMap((entry) => {
    const word = commandWord(entry);
    const seen = `-n "__fish_seen_subcommand_from ${word}"`;
    return [
      `complete -c svc -f -n "__fish_use_subcommand" -a ${word} -d ${quoted(entry.summary)}`,
      ...(entry.actions ? [`complete -c svc -f ${seen} -a "${actionsOf(entry).join(" ")}"`] : []),
      ...entry.options.map(
        ([flags, text]) => `complete -c svc ${seen} -l ${/--([a-z0-9-]+)/.exec(flags)![1]} -d ${quoted(text)}`,
      ),
    ];
  });
  return [...words, names].join("\n");
}
