/**
 * A privileged process that walks a path which another user may change deletes, copies or gives away what that user chooses. One place
 * does it by descriptor; everywhere else a recursive removal, a copy of a tree, a change of owner or a listing needs a reason.
 */
import { isTest, type Source, walk } from "@svc/source";
import type { Check, Finding } from "../check.ts";

const MODULES = new Set(["node:fs", "node:fs/promises", "fs", "fs/promises"]);
const CALLS = new Set(
  `cp cpSync chown chownSync lchown lchownSync fchown fchownSync readdir readdirSync opendir opendirSync glob globSync`.split(
    /\s+/,
  ),
);
const REMOVALS = new Set(["rm", "rmSync"]);

/** What may lie in the folder, and why a path is enough there. */
const EXCEPTIONS: readonly { readonly path: RegExp; readonly why: string }[] = [
  { path: /^packages\/core\/kit\/src\/files\//, why: "the place itself" },
  {
    path: /\/src\/(?:process\/process-tree|process\/session-group|process\/descriptors|marks|user-pids|child\/user-namespace|doctor\/machine\/lock-holder|child\/limits|readings)\.ts$/,
    why: "lists /proc or a control group: the kernel makes these names, and nothing is followed, copied or removed recursively",
  },
  {
    path: /^packages\/features\/hardware-boards\/src\/datasheet\.ts$/,
    why: "lists names in hardware/datasheets of $SVC_HOME, which is 0700 and ours",
  },
  {
    path: /^packages\/core\/kit\/src\/hardware\/usb\.ts$/,
    why: "lists /sys: the kernel makes these names, and only small texts are read",
  },
  {
    path: /^apps\/svc\/src\/backup\/(?:swap|prepare-restore|interrupted)\.ts$/,
    why: "lists and removes restore-* of $SVC_HOME, which is 0700 and ours; no other user can enter it",
  },
  {
    path: /^packages\/core\/agent\/src\/attachments\.ts$/,
    why: "lists names in state/uploads of $SVC_HOME, which is 0700 and ours, and unlinks left-over files there",
  },
  {
    path: /^apps\/svc\/src\/backup\/copy-home\.ts$/,
    why: "lists names in state/features of $SVC_HOME, which is 0700 and ours; SQLite copies the files",
  },
  {
    path: /^apps\/svc\/src\/backup\/known-backups\.ts$/,
    why: "lists names in backups of $SVC_HOME (0700) and removes single files that are called as its own",
  },
  {
    path: /^apps\/svc\/src\/backup\/(?:make-backup|stage)\.ts$/,
    why: "lists staging folders (0700), in a folder that no other user can change: isPrivateFolder",
  },
  {
    path: /^packages\/core\/config\/src\/write-config\.ts$/,
    why: "keeps the owner of config.toml for the draft beside it, by the descriptor with which O_EXCL made it",
  },
  {
    path: /^packages\/core\/config\/src\/home-files\.ts$/,
    why: "lists names beside a file that it writes and removes single drafts of its own by name; unlink follows no link",
  },
  {
    path: /^packages\/core\/config\/src\/versions\.ts$/,
    why: "lists names in versions of $SVC_HOME (0700) and removes single files",
  },
  {
    path: /^packages\/core\/runtime\/src\/log-file\.ts$/,
    why: "lists names in the log folder of $SVC_HOME (0700) and removes single files",
  },
  {
    path: /^packages\/core\/agent\/src\/workspace\/index\.ts$/,
    why: "lists by the descriptor that @svc/kit/files opened",
  },
  {
    path: /^packages\/core\/sop\/src\/library\/folders\.ts$/,
    why: "reads names in the workspace; the files are judged by the inode that was opened (files.ts)",
  },
  {
    path: /^packages\/features\/(?:browser-agent|browser-native)\/src\//,
    why: "below $SVC_HOME/run/browser (0700): names are listed, single files are removed; trees go by @svc/kit/files",
  },
  {
    path: /^packages\/core\/kit\/src\/browser\/chromium\.ts$/,
    why: "adds up sizes in a download folder below $SVC_HOME/run/browser (0700); reads no file",
  },
  {
    path: /^packages\/features\/plugins-wasm\/src\/(?:install\/place|installed)\.ts$/,
    why: "lists names; what is read is checked against its hash, and trees are removed by @svc/kit/files",
  },
  {
    path: /^packages\/features\/sandbox-container\/src\/leftovers\.ts$/,
    why: "lists names by descriptor; only folders of this user are removed, by @svc/kit/files",
  },
  {
    path: /^packages\/features\/sandbox-jail\/src\/view\.ts$/,
    why: "lists the root of the file system, which belongs to root",
  },
];

export const fileWalks: Check = {
  id: "file-walks",
  rule: "Trees are removed, copied, given away and listed through @svc/kit/files.",
  find: (workspace) =>
    workspace
      .sources(
        (file) =>
          /^(?:packages\/(?:features|core)\/[^/]+|apps\/svc)\/src\//.test(file) &&
          !isTest(file) &&
          !EXCEPTIONS.some(({ path }) => path.test(file)),
      )
      .flatMap(walksOf),
};

const FIX = "Use removePath, copyTree, givePath or makeScratch, or add an exception with its reason to file-walks.ts.";

function walksOf({ file, program, lineOf }: Source): Finding[] {
  const found: Finding[] = [];
  const removals = new Set<string>();
  const add = (start: number, message: string): void =>
    void found.push({ file, line: lineOf(start), message, fix: FIX });
  for (const statement of program.body) {
    if (statement.type !== "ImportDeclaration" || !MODULES.has(statement.source.value)) continue;
    for (const one of statement.specifiers) {
      if (one.type !== "ImportSpecifier") add(one.start, "Import the functions of node:fs by their names.");
      else if (one.imported.type === "Identifier" && CALLS.has(one.imported.name))
        add(one.start, `${one.imported.name} acts on a path that another user may change.`);
      else if (one.imported.type === "Identifier" && REMOVALS.has(one.imported.name)) removals.add(one.local.name);
    }
  }
  walk(program, (node) => {
    if (node.type !== "CallExpression" || node.callee.type !== "Identifier" || !removals.has(node.callee.name)) return;
    const isRecursive = node.arguments.slice(1).some((argument) => !isPlainRemoval(argument));
    if (isRecursive) add(node.start, `${node.callee.name} with recursive acts on a path that another user may change.`);
  });
  return found;
}

/** Options that are written out and don't say `recursive`. */
const isPlainRemoval = (argument: { readonly type: string; readonly properties?: readonly unknown[] }): boolean =>
  argument.type === "ObjectExpression" &&
  (argument.properties ?? []).every((property) => {
    const { key } = property as { readonly key?: { readonly name?: string } };
    return key?.name !== undefined && key.name !== "recursive";
  });
