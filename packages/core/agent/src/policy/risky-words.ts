/** Options that turn a harmless program into one that runs others. Long options count by any unambiguous beginning. */

type Rule = (args: readonly string[]) => boolean;

/** By program name: whether these arguments need a person. */
export const RISKY_WORDS: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  [
    "find",
    (args) =>
      args.some((arg) => /^-(?:exec|execdir|ok|okdir|delete|fls|fprint|fprintf|fprint0|files0-from)$/.test(arg)),
  ],
  ["sed", sedIsRisky],
  ["tar", tarIsRisky],
  ["bsdtar", tarIsRisky],
  ["git", gitIsRisky],
  ["sort", (args) => begins(args, ["--compress-program"])],
  ["split", (args) => begins(args, ["--filter"])],
  ["diff3", (args) => begins(args, ["--diff-program"])],
  ["sdiff", (args) => begins(args, ["--diff-program"])],
  ["install", (args) => begins(args, ["--strip-program"])],
  ["wget", (args) => begins(args, ["--use-askpass", "--execute", "--config"]) || shortOption(args, "e")],
  ["zip", (args) => begins(args, ["--unzip-command", "--test"]) || shortOption(args, "T")],
  [
    "rg",
    (args) => args.some((arg) => arg.startsWith("--pre") && arg !== "--pretty") || begins(args, ["--hostname-bin"]),
  ],
  ["fd", (args) => begins(args, ["--exec", "--exec-batch"]) || shortOption(args, "x") || shortOption(args, "X")],
  ["patch", () => true], // an ed script in the patch can run commands
  // Their -v and -R take a variable's name, and some shells evaluate numbers: a subscript in either can hold a substitution.
  ["test", namesVariable],
  ["[", namesVariable],
  ["printf", namesVariable],
  ["wait", (args) => args.some((arg) => arg.startsWith("-"))],
]);

/** `--comp=x` is taken for `--compress-program` by option parsers that complete names. */
function begins(args: readonly string[], options: readonly string[]): boolean {
  return args.some((arg) => {
    const name = arg.split("=", 1)[0] as string;
    return name.length > 2 && options.some((option) => option.startsWith(name) || name.startsWith(option));
  });
}

const shortOption = (args: readonly string[], letter: string): boolean =>
  args.some((arg) => /^-[^-]/.test(arg) && arg.includes(letter));

function namesVariable(args: readonly string[]): boolean {
  return args.some((arg) => /^-[vR]|[$`]/.test(arg));
}

/** Only addresses with p, d or q, and s/// without the flags that write (w) or execute (e). */
const SED_SCRIPT =
  /^(?:(?:[0-9]+|\$)?(?:,(?:[0-9]+|\$))?[pdq]|s\/(?:[^/\\\n]|\\[^\n])*\/(?:[^/\\\n]|\\[^\n])*\/[gpI0-9]*)$/;

function sedIsRisky(args: readonly string[]): boolean {
  const scripts: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string;
    if (arg === "-e") scripts.push(args[(index += 1)] ?? "");
    else if (arg.startsWith("-")) {
      if (!/^-[nErsuz]+$/.test(arg)) return true;
    } else others.push(arg);
  }
  if (scripts.length === 0) scripts.push(others[0] ?? "");
  return !scripts.every((script) => SED_SCRIPT.test(script));
}

/** A first bundle of known letters, then plain names: no long options, and no `host:file`, which starts a remote shell. */
function tarIsRisky(args: readonly string[]): boolean {
  const [bundle = "", ...rest] = args;
  return !/^-?[cxtzjJvfpkhCO]+$/.test(bundle) || rest.some((arg) => /^-(?!C$)/.test(arg) || arg.includes(":"));
}

/**
 * Only subcommands that are known, so that no alias is called, and no option that names a program. What a repository's own
 * configuration and hooks run is not visible here: listing git trusts the repositories in the workspace.
 */
function gitIsRisky(args: readonly string[]): boolean {
  const rest = args.filter((arg, index) => index > 0 || (arg !== "--no-pager" && arg !== "-P"));
  const [subcommand = "", ...options] = rest;
  if (!GIT_SUBCOMMANDS.has(subcommand)) return true;
  if (begins(options, GIT_PROGRAM_OPTIONS) || shortOption(options, "O")) return true;
  if (subcommand === "clone" && shortOption(options, "c")) return true;
  return GIT_NETWORK.has(subcommand) && (shortOption(options, "u") || options.some((arg) => arg.includes("::")));
}

const GIT_SUBCOMMANDS = new Set(
  `status log diff show add commit branch tag checkout switch restore merge fetch pull push rm mv reset stash rev-parse
   rev-list ls-files ls-tree cat-file blame describe shortlog clean init clone cherry-pick revert grep merge-base show-ref
   symbolic-ref for-each-ref reflog version`
    .trim()
    .split(/\s+/),
);

const GIT_NETWORK = new Set(["fetch", "pull", "clone"]);

const GIT_PROGRAM_OPTIONS = [
  "--config",
  "--config-env",
  "--edit-description",
  "--exec",
  "--ext-diff",
  "--gpg-sign",
  "--open-files-in-pager",
  "--receive-pack",
  "--recurse-submodules",
  "--show-signature",
  "--template",
  "--textconv",
  "--upload-pack",
];
