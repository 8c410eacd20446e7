/** Which git commands ask. The repository's own configuration is the subject of git-repository.ts. */
import { hasLetter, namesOption } from "./option-words.ts";

/**
 * Known subcommands only, so that no alias is called, and no option that names a program, writes a file or enters a submodule.
 * `clone`, `fetch`, `pull` and `push` ask: the remote's entry in the configuration names the programs that they start. `mv` and
 * `symbolic-ref` ask: git 2.39 lets both write `.git/config`.
 */
export function gitAsks(args: readonly string[]): boolean {
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
