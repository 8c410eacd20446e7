/**
 * Which arguments of a listed program ask a person: options that name another program, write a file, or load a file that can do
 * either. One row per program, with the document that it was read from. A program without a row runs as it was listed.
 *
 * `ldd`, `make`, `ssh`, `python` and the like have no row: commands-that-run-commands.ts lists them, and they always ask.
 */

// Which git commands ask. The repository's own configuration is the subject of git-repository.ts.

/**
 * Known subcommands only, so that no alias is called, and no option that names a program, writes a file or enters a submodule.
 * `clone`, `fetch`, `pull` and `push` ask: the remote's entry in the configuration names the programs that they start. `mv` and
 * `symbolic-ref` ask: git 2.39 lets both write `.git/config`.
 */
function gitAsks(args: readonly string[]): boolean {
  const [subcommand = "", ...options] = args[0] === "--no-pager" || args[0] === "-P" ? args.slice(1) : args;
  if (!SUBCOMMANDS.has(subcommand)) return true;
  if (namesOption(options, LONG)) return true;
  return hasLetter(options, LETTERS.get(subcommand) ?? "");
}

const SUBCOMMANDS = new Set(
  `status log diff show add commit branch tag checkout switch restore merge rm reset stash rev-parse rev-list ls-files
   ls-tree cat-file blame describe shortlog clean init cherry-pick revert grep merge-base show-ref for-each-ref
   reflog version`
    .trim()
    .split(/\s+/),
);

/**
 * git-log(1), git-diff(1): output, ext-diff, textconv. git-cat-file(1): filters, textconv. git-commit(1), git-tag(1): gpg-sign,
 * show-signature. git-grep(1): open-files-in-pager. git-init(1): template, separate-git-dir. git-branch(1): edit-description.
 * `--help` starts man(1).
 */
const LONG = `output output-directory ext-diff textconv filters gpg-sign show-signature open-files-in-pager template
  separate-git-dir edit-description help exec config config-env upload-pack receive-pack recurse-submodules ignore-submodules
  submodule`;

/** git-grep(1): -O opens a pager. */
const LETTERS: ReadonlyMap<string, string> = new Map([["grep", "O"]]);

// Options as the common parsers read them: beginnings of long names, and one-letter options in bundles.

/** `names`: long options without their dashes, between blanks. */
function namesOption(args: readonly string[], names: string): boolean {
  const options = names.split(/\s+/).filter(Boolean);
  return args.some((arg) => {
    const [given = ""] = arg.split("=", 1);
    return given.length > 2 && given.startsWith("--") && options.some((option) => `--${option}`.startsWith(given));
  });
}

/** `letters`: any of them in a word of one dash. What follows a letter can be its value: that asks once too often. */
const hasLetter = (args: readonly string[], letters: string): boolean =>
  args.some((arg) => /^-[^-]/.test(arg) && [...letters].some((letter) => arg.includes(letter)));

export interface ProgramRule {
  /** Manual page and version, or a URL. */
  readonly source: string;
  /** The program only reads, once the arguments below are excluded: it may share a line with git. */
  readonly reads?: true;
  /** Long options without their dashes. Every beginning of one asks too, because option parsers complete names. */
  readonly long?: string;
  /** One-letter options, alone or in a bundle. */
  readonly short?: string;
  /** Whole words, for programs whose long options have one dash. */
  readonly words?: string;
  readonly asks?: (args: readonly string[]) => boolean;
}

const COREUTILS = "coreutils 9.1, https://www.gnu.org/software/coreutils/manual/";
const BINUTILS = "binutils 2.40, https://sourceware.org/binutils/docs-2.40/binutils/";
const DIFFUTILS = "diffutils 3.8, https://www.gnu.org/software/diffutils/manual/";

export const PROGRAM_RULES: ReadonlyMap<string, ProgramRule> = new Map<string, ProgramRule>([
  ["git", { source: "git(1), gitattributes(5), git-config(1), 2.39.5 to 2.51", asks: gitAsks }],

  // Files and text, reading only.
  ...readers(
    `ls cat tac head tail wc nl cut tr paste join comm fold expand unexpand fmt pr od base32 base64 basenc seq echo true false
     pwd basename dirname realpath readlink stat du df id whoami uname nproc tsort numfmt factor sum cksum md5sum sha1sum
     sha256sum sha512sum b2sum printenv sleep`,
    { source: COREUTILS },
  ),
  // An operand without a plus sign sets the clock.
  ...readers("date", {
    source: `date(1), ${COREUTILS}`,
    long: "set",
    short: "s",
    asks: (args) => operands(args, "dfr").some((operand) => !operand.startsWith("+")),
  }),
  ...readers("sort", {
    source: `sort(1), ${COREUTILS}`,
    long: "compress-program output temporary-directory",
    short: "oT",
  }),
  ...readers("shuf", { source: `shuf(1), ${COREUTILS}`, long: "output", short: "o" }),
  // The second operand is the output.
  ...readers("uniq", { source: `uniq(1), ${COREUTILS}`, asks: (args) => operands(args, "fsw").length > 1 }),
  ...readers("ptx", { source: `ptx(1), ${COREUTILS}`, long: "traditional", short: "G" }),
  // Their -v and -R take a variable's name, and some shells evaluate numbers: a subscript in either can hold a substitution.
  ...readers("test [ printf", { source: "bash(1) 5.2, mksh(1) 59c, zshbuiltins(1) 5.9", asks: namesVariable }),
  ["wait", { source: "bash(1) 5.2", asks: (args) => args.some((arg) => arg.startsWith("-")) }],
  ...readers("grep egrep fgrep", { source: "grep(1) 3.8" }),
  ...readers("rg", { source: "rg(1) 14.1", long: "pre hostname-bin search-zip", short: "z" }),
  ...readers("ag", { source: "ag(1) 2.2", long: "pager search-zip", short: "z" }),
  ...readers("sed", { source: "sed(1) 4.9", asks: sedAsks }),
  ...readers("find", {
    source: "find(1), findutils 4.9",
    words: "-exec -execdir -ok -okdir -delete -fls -fprint -fprintf -fprint0 -files0-from",
  }),
  ...readers("fd fdfind", {
    source: "fd(1) 10.2",
    long: "exec exec-batch list-details",
    short: "xXl",
  }),
  ...readers("tree", { source: "tree(1) 2.1", short: "oR", long: "output" }),
  ...readers("jq", { source: "jq(1) 1.7" }),
  ...readers("yq", {
    source: "https://mikefarah.gitbook.io/yq/ 4.47; yq(1) 3.4 of kislyuk/yq",
    long: "inplace in-place split-exp split-exp-file security-enable-system-operator",
    short: "is",
  }),
  ...readers("diff", { source: `diff(1), ${DIFFUTILS}`, long: "paginate", short: "l" }),
  ...readers("cmp", { source: `cmp(1), ${DIFFUTILS}` }),
  ...readers("diff3", { source: `diff3(1), ${DIFFUTILS}`, long: "diff-program" }),
  ...readers("sdiff", { source: `sdiff(1), ${DIFFUTILS}`, long: "diff-program output", short: "o" }),
  ...readers("file", {
    source: "file(1) 5.44",
    long: "compile magic-file uncompress uncompress-noreport no-sandbox",
    short: "CmzZS",
  }),
  // The second operand of xxd is the output, and -r writes into an existing file.
  ...readers("xxd", {
    source: "xxd(1) 2022-01-14",
    words: "-revert",
    short: "r",
    asks: (args) => operands(args, "cglonRs").length > 1,
  }),
  ...readers("iconv", { source: "iconv(1), glibc 2.36", long: "output", short: "o" }),
  ...readers("rev column hexdump look", { source: "util-linux 2.38.1" }),
  ...readers("ps free uptime", { source: "procps 4.0.2" }),
  ...readers("journalctl", {
    source: "journalctl(1), systemd 252",
    long: `rotate vacuum-size vacuum-files vacuum-time flush sync setup-keys update-catalog cursor-file relinquish-var
      smart-relinquish-var`,
  }),

  // Object files. Every program of binutils takes more options from a file named by `@file`.
  ...readers("nm", { source: `nm(1), ${BINUTILS}`, long: "plugin", asks: hasResponseFile }),
  ...readers("objdump readelf strings size addr2line c++filt", { source: BINUTILS, asks: hasResponseFile }),
  ["ranlib", { source: `ranlib(1), ${BINUTILS}`, long: "plugin", asks: hasResponseFile }],
  ["ar", { source: `ar(1), ${BINUTILS}`, long: "plugin record-libdeps", asks: hasResponseFile }],

  // Network.
  [
    "curl",
    {
      source: "curl(1) 7.88.1 and 8.16",
      long: `output remote-name remote-name-all remote-header-name output-dir create-dirs config dump-header trace trace-ascii
        trace-config stderr cookie-jar hsts alt-svc etag-save libcurl engine unix-socket abstract-unix-socket upload-file write-out
        data data-ascii data-binary data-raw data-urlencode json form form-string form-escape url-query variable request quote
        mail-from mail-rcpt netrc netrc-file netrc-optional cert key proxy-cert proxy-key ssl-sessions telnet-option
        proxy preproxy`,
      short: "oOJKDcTFdXQwEntZx",
      asks: (args) => args.some((arg) => arg.startsWith("@")),
    },
  ],
  // Without options it writes a file whose name the server chooses.
  ["wget", { source: "wget(1) 1.21.3", asks: () => true }],
  ["wget2", { source: "wget2(1) 2.2", asks: () => true }],

  // Archives and files: these write, and listing one trusts it to. A hidden path asks: it can hold another program's settings.
  ["tar", { source: "tar(1) 1.34", asks: tarAsks }],
  ["bsdtar", { source: "bsdtar(1) 3.6.2", asks: tarAsks }],
  ["cpio", { source: "cpio(1) 2.13", long: "rsh-command", short: "FOI", asks: namesHidden }],
  ["zip", { source: "zip(1) 3.0", long: "unzip-command test", short: "T", asks: namesHidden }],
  ["unzip", { source: "unzip(1) 6.0", asks: namesHidden }],
  ["cp", { source: `cp(1), ${COREUTILS}`, asks: namesHidden }],
  ["mv", { source: `mv(1), ${COREUTILS}`, asks: namesHidden }],
  ["ln", { source: `ln(1), ${COREUTILS}`, asks: namesHidden }],
  ["tee", { source: `tee(1), ${COREUTILS}`, asks: namesHidden }],
  ["dd", { source: `dd(1), ${COREUTILS}`, asks: namesHidden }],
  ["install", { source: `install(1), ${COREUTILS}`, long: "strip-program", short: "s", asks: namesHidden }],
  ["mkdir", { source: `mkdir(1), ${COREUTILS}`, asks: namesHidden }],
  ["touch", { source: `touch(1), ${COREUTILS}`, asks: namesHidden }],
  ["truncate", { source: `truncate(1), ${COREUTILS}`, asks: namesHidden }],
  ["split", { source: `split(1), ${COREUTILS}`, long: "filter", asks: beginsHidden }],
  ["csplit", { source: `csplit(1), ${COREUTILS}`, asks: beginsHidden }],
  // An ed script in the patch can run commands.
  ["patch", { source: "patch(1) 2.7.6", asks: () => true }],
]);

function readers(names: string, rule: Omit<ProgramRule, "reads">): [string, ProgramRule][] {
  return names
    .trim()
    .split(/\s+/)
    .map((name) => [name, { ...rule, reads: true }]);
}

/** Whether the arguments ask. `--comp=x` is `--compress-program=x` to a parser that completes names. */
export function argumentsAsk(rule: ProgramRule, args: readonly string[]): boolean {
  const { long = "", short = "", words = "", asks } = rule;
  return namesOption(args, long) || hasLetter(args, short) || hasWord(args, words) || asks?.(args) === true;
}

/** A rule without any condition has nothing that a file name could be taken for. */
export const hasConditions = ({ long, short, words, asks }: ProgramRule): boolean =>
  long !== undefined || short !== undefined || words !== undefined || asks !== undefined;

const hasWord = (args: readonly string[], words: string): boolean =>
  words !== "" && args.some((arg) => words.split(/\s+/).includes(arg));

/** Words that are no options, nor the values of the one-letter options `withValue`. */
function operands(args: readonly string[], withValue: string): string[] {
  const found: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] as string;
    if (!arg.startsWith("-") || arg === "-") found.push(arg);
    else if (arg.length === 2 && withValue.includes(arg.charAt(1))) index += 1;
  }
  return found;
}

/** `.git/config`, `of=.npmrc`, `host:.ssh/config`, `-t.git`: a file or folder whose name begins with a dot. */
function namesHidden(args: readonly string[]): boolean {
  const isHidden = (word: string): boolean => word.split(/[/=:,]/).some((part) => /^\.+[^.]/.test(part));
  return args.some((arg) => isHidden(arg) || isHidden(arg.replace(/^-[A-Za-z]+/, "")));
}

/** The same of a word that is the beginning of names: `.` becomes `.aa`. */
function beginsHidden(args: readonly string[]): boolean {
  return namesHidden(args) || args.some((arg) => arg.endsWith("."));
}

function hasResponseFile(args: readonly string[]): boolean {
  return args.some((arg) => arg.startsWith("@"));
}

function namesVariable(args: readonly string[]): boolean {
  return args.some((arg) => /^-[vR]|[$`]/.test(arg));
}

/** Only addresses with p, d or q, and s/// without the flags that write (w) or execute (e). */
const SED_SCRIPT =
  /^(?:(?:[0-9]+|\$)?(?:,(?:[0-9]+|\$))?[pdq]|s\/(?:[^/\\\n]|\\[^\n])*\/(?:[^/\\\n]|\\[^\n])*\/[gpI0-9]*)$/;

function sedAsks(args: readonly string[]): boolean {
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

/**
 * A first bundle of known letters, then plain names: no long options, no `host:file`, which starts a remote shell, and no hidden
 * path.
 */
function tarAsks(args: readonly string[]): boolean {
  const [bundle = "", ...rest] = args;
  return (
    !/^-?[cxtzjJvfpkhCO]+$/.test(bundle) ||
    rest.some((arg) => /^-(?!C$)/.test(arg) || arg.includes(":")) ||
    namesHidden(rest)
  );
}
