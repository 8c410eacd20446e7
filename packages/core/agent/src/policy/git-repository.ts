/**
 * Whether the repository that git would use in a folder has an ordinary configuration. `filter.<name>.clean`,
 * `diff.<name>.textconv`, `merge.<name>.driver`, `diff.external` and `remote.<name>.uploadpack` name programs that `git status`
 * or `git diff` start, and no variable of the environment switches them off. So a line with git asks unless every setting is one
 * that is known to name no program. What is read here can change before git reads it: another listed program must not share the
 * line, and a command that writes hidden paths asks.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readSync, realpathSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { isInside } from "../workspace/path-rules.ts";

/** `folder`: where the line starts, relative to the workspace. False when in doubt. */
export function isPlainRepository(workspace: string, folder: string): boolean {
  try {
    let place = realpathSync(resolve(workspace, folder));
    if (!isInside(place, workspace)) return false;
    if (
      relative(workspace, place)
        .split(sep)
        .some((part) => part.startsWith("."))
    )
      return false;
    for (;;) {
      const repository = join(place, ".git");
      const stats = lstatSync(repository, { throwIfNoEntry: false });
      // Git passes over one that is not whole, so those above count too.
      if (stats && !(stats.isDirectory() && isPlain(place, repository))) return false;
      // Git takes a folder with a HEAD for a repository without a working tree, whose configuration lies beside it.
      if (existsSync(join(place, "HEAD"))) return false;
      if (place === workspace) return true;
      place = dirname(place);
    }
  } catch {
    return false;
  }
}

function isPlain(top: string, repository: string): boolean {
  // `commondir` moves the configuration elsewhere; submodules have repositories and settings of their own.
  if (existsSync(join(repository, "commondir")) || existsSync(join(top, ".gitmodules"))) return false;
  return (
    isPlainConfig(readFile(join(repository, "config"))?.toString("utf8") ?? "") &&
    !hasSubmodules(readFile(join(repository, "index")))
  );
}

/** Settings that name no program, and that git and its front ends write by themselves. Subsections count as their section. */
const PLAIN_SETTINGS = new Set(
  `core.repositoryformatversion core.filemode core.bare core.logallrefupdates core.ignorecase core.precomposeunicode
   core.symlinks core.autocrlf core.eol core.safecrlf core.quotepath core.abbrev core.compression core.whitespace
   core.commentchar core.trustctime core.preloadindex core.longpaths
   remote.url remote.pushurl remote.fetch remote.push remote.tagopt remote.prune remote.mirror remote.gh-resolved
   branch.remote branch.merge branch.rebase branch.pushremote branch.description branch.sort branch.autosetuprebase
   branch.autosetupmerge branch.vscode-merge-base branch.gh-merge-base
   user.name user.email author.name author.email committer.name committer.email
   init.defaultbranch pull.rebase pull.ff push.default push.autosetupremote push.followtags fetch.prune merge.ff
   merge.conflictstyle rerere.enabled rebase.autostash rebase.autosquash color.ui color.diff color.status color.branch
   log.date log.decorate diff.algorithm diff.renames diff.colormoved diff.noprefix diff.mnemonicprefix status.short
   status.branch status.showuntrackedfiles tag.sort column.ui`
    .trim()
    .split(/\s+/),
);

const BLANK = /^\s*(?:[#;].*)?$/;
const SECTION = /^\s*\[([A-Za-z0-9-]+)(?: "[^"\\]*")?\]\s*$/;
/** No backslash: it could continue the line. */
const SETTING = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=[^\\]*)?$/;

function isPlainConfig(text: string): boolean {
  let section = "";
  return text.split(/\r?\n/).every((line) => {
    if (BLANK.test(line)) return !line.includes("\\");
    const opened = SECTION.exec(line)?.[1];
    if (opened !== undefined) {
      section = opened.toLowerCase();
      return true;
    }
    const key = SETTING.exec(line)?.[1];
    return key !== undefined && PLAIN_SETTINGS.has(`${section}.${key.toLowerCase()}`);
  });
}

/**
 * Whether the index holds a submodule: git runs itself there, with that repository's settings. gitformat-index(5). True when in
 * doubt.
 */
function hasSubmodules(index: Buffer | undefined): boolean {
  if (!index) return false;
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4) return true;
  let at = 12;
  for (let left = index.readUInt32BE(8); left > 0; left -= 1) {
    if (index.readUInt32BE(at + 24) >>> 12 === GITLINK) return true;
    const flags = index.readUInt16BE(at + 60);
    let name = at + 62 + (flags & EXTENDED ? 2 : 0);
    if (version === 4) while (index.readUInt8(name++) & 0x80);
    const end = index.indexOf(0, name);
    if (end === -1) return true;
    at = version === 4 ? end + 1 : at + ((end - at + 8) & ~7);
  }
  // Extensions, up to the checksum: a shared index holds more entries.
  for (; at + 8 <= index.length - CHECKSUM_BYTES; at += 8 + index.readUInt32BE(at + 4)) {
    if (index.toString("latin1", at, at + 4) === "link") return true;
  }
  return false;
}

const GITLINK = 0o16;
const EXTENDED = 0x4000;
const CHECKSUM_BYTES = 20;

const MAX_BYTES = 16 * 1024 * 1024;

/** Undefined where the file is missing. Throws for a link, a pipe and a file that is too large. */
function readFile(path: string): Buffer | undefined {
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  const file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    const { size } = stats;
    if (!stats.isFile() || size > MAX_BYTES) throw new Error("not a file of git");
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(file, bytes, 0, size, 0));
  } finally {
    closeSync(file);
  }
}
