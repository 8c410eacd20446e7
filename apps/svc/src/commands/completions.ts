/** `svc completions bash|zsh|fish`, made from the same table as the help. */
import type { ControlAnswer, ControlName } from "@svc/api/control";
import { homeOf } from "@svc/config/home";
import { type ControlCall, daemonAt } from "../service/control.ts";
import type { CommandContext, CommandEntry } from "../cli/command.ts";
import { actionWord, commandWord } from "../cli/options.ts";
import { COMMANDS } from "../command-table.ts";

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

/** Prints the names and keys that complete the last word, one per line. Prints no errors: the operator is typing. */
export async function complete(context: CommandContext): Promise<number> {
  const words = context.args;
  const typed = words.at(-1) ?? "";
  const found = await candidates(context, words).catch(() => []);
  const fitting = found.filter((word) => word.startsWith(typed) && isPlain(word)).slice(0, MOST);
  if (fitting.length > 0) context.print([...new Set(fitting)].join("\n"));
  return 0;
}

const MOST = 200;

/** A name may be anybody's: a line break in one would be a candidate of its own. */
const isPlain = (word: string): boolean => word !== "" && !/[\p{Cc}\u2028-\u202e\u2066-\u2069]/u.test(word);

async function candidates(context: CommandContext, words: readonly string[]): Promise<readonly string[]> {
  if (words.length <= 1) return COMMANDS.map(commandWord);
  const entry = COMMANDS.find((one) => commandWord(one) === words[0]);
  if (!entry) return [];
  if (words.at(-1)!.startsWith("-")) return entry.options.map(([flags]) => /--[a-z0-9-]+/.exec(flags)![0]);
  if (entry.actions && words.length === 2) return entry.actions.map(actionWord);
  const wanted = placeholder(entry, words);
  const names = wanted === undefined ? undefined : NAMES[`${words[0]} ${wanted}`];
  return names ? await names(context) : [];
}

/** What the usage calls the argument that is being typed, e.g. `<name>`. */
function placeholder(entry: CommandEntry, words: readonly string[]): string | undefined {
  const plain = words.slice(1).filter((word, index, all) => index === all.length - 1 || !word.startsWith("-"));
  if (!entry.actions) return entry.usage.split(" ")[plain.length];
  return entry.actions.find((action) => actionWord(action) === plain[0])?.split(" ")[plain.length - 1];
}

type Names = (context: CommandContext) => Promise<readonly string[]>;

/** Of the daemon's answer, what the shell may offer. */
const listed =
  <Name extends ControlName>(
    call: ControlCall<Name>,
    namesOf: (answer: ControlAnswer<Name>) => readonly (readonly string[])[],
  ): Names =>
  async ({ env }) =>
    namesOf(await daemonAt(homeOf(env).controlSocket)(call)).flat();

const procedures = listed({ name: "sops" }, ({ sops }) => sops.map(({ name }) => [name]));
const runs = listed({ name: "sop-runs" }, ({ runs: all }) => all.map(({ id }) => [id]));
const sopVersions = listed({ name: "sop-versions" }, ({ versions }) =>
  versions.map(({ version }) => [String(version)]),
);
const devices = listed({ name: "devices" }, ({ devices: all }) => all.map(({ id, name }) => [name, id]));
const conversations = listed({ name: "sessions", body: { limit: 100 } }, ({ sessions }) =>
  sessions.map(({ id }) => [id]),
);
const channels = listed({ name: "channels" }, ({ channels: all }) => all.map(({ id }) => [id]));
const requests = listed({ name: "approvals" }, ({ approvals }) => approvals.map(({ n }) => [String(n)]));
const tools = listed({ name: "tools" }, ({ tools: all }) => all.map(({ name }) => [name]));

const keys =
  (isSecret: boolean | undefined): Names =>
  async ({ build }) => {
    const [{ walkSchema }, { features }] = await Promise.all([import("@svc/config"), build.load()]);
    return walkSchema(features)
      .filter(({ node }) => !node.entries && (isSecret === undefined || (node.marks.secret === true) === isSecret))
      .map(({ key }) => key)
      .filter((key) => !/[*[]/.test(key));
  };

const NAMES: Readonly<Record<string, Names>> = {
  "sop <name>": procedures,
  "sop [name]": procedures,
  "sop <name|run>": async (context) => [...(await procedures(context)), ...(await runs(context))],
  "sop <run>": runs,
  "sop <version>": sopVersions,
  "approvals <number|run>": requests,
  "devices <id>": devices,
  "sessions <id>": conversations,
  "channels <channel>": channels,
  "channels <name>": channels,
  "send <channel>": channels,
  "tools <name>": tools,
  "config <key>": keys(undefined),
  "secrets <key>": keys(true),
};
