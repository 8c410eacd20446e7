/**
 * A workspace full of traps: settings of many programs that name a program which leaves a mark, hooks, a shared object, and a file
 * of options. Lines run in it as the shell tool runs them, inside bubblewrap, and under a tracer that notes what they start.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { createNoneBackend } from "../src/sandbox/choose-sandbox.ts";

export interface Ran {
  /** Paths of the programs that became of it. */
  readonly programs: readonly string[];
  /** Whether a trap was sprung. */
  readonly isSprung: boolean;
}

export interface TrapRoom extends Disposable {
  readonly workspace: string;
  /** The workspace as it was in the beginning. */
  reset(): void;
  /** Runs each line on its own, one after the other. `unasked`: as the policy lets a listed line run. */
  run(lines: readonly string[], unasked: boolean): Promise<Ran[]>;
  /** Every path of the workspace with what is there. */
  snapshot(): Map<string, string>;
}

/** Why it can't be made here. */
export const missingPart = (): { name: string; reason: string } | undefined =>
  ["bwrap", "gcc", "git"].flatMap((name) =>
    spawnSync(name, ["--version"]).status === 0
      ? []
      : [{ name, reason: `${name} is not on PATH; apt-get install bubblewrap gcc git` }],
  )[0];

export function openTrapRoom(): TrapRoom {
  const room = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "svc-traps-")));
  const [workspace, pristine, logs, tracer] = ["workspace", "pristine", "logs", "tracer"].map((name) =>
    join(room, name),
  );
  fs.mkdirSync(logs!);
  compile(tracer!, fs.readFileSync(join(import.meta.dirname, "watch-processes.c"), "utf8"));
  plant(pristine!, join(logs!, "sprung"));
  const reset = (): void => {
    fs.rmSync(workspace!, { recursive: true, force: true });
    fs.cpSync(pristine!, workspace!, { recursive: true, verbatimSymlinks: true });
  };
  reset();

  return {
    workspace: workspace!,
    reset,
    async run(lines, unasked) {
      fs.rmSync(logs!, { recursive: true });
      fs.mkdirSync(logs!);
      const script = lines.map(
        (line, index) =>
          `timeout -k 1 5 ${tracer} ${logs}/${index} /bin/sh -c -- '${line.replaceAll("'", String.raw`'\''`)}' </dev/null >/dev/null 2>&1
           test -e ${logs}/sprung && mv ${logs}/sprung ${logs}/${index}.sprung`,
      );
      const confine = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--unshare-net"];
      const binds = ["--ro-bind", tracer!, tracer!, "--bind", workspace!, workspace!, "--bind", logs!, logs!];
      const session = await createNoneBackend().open({
        workspace: workspace!,
        network: false,
        readable: [],
        writable: [],
        hidden: [],
        limits: { timeoutSecs: 600 },
      });
      const ended = await session.exec({
        command: [
          "bwrap",
          ...confine,
          ...binds,
          "--chdir",
          workspace!,
          "/bin/sh",
          "-c",
          `${script.join("\n")}\nexit 7`,
        ],
        unasked,
      });
      await session.close();
      if (ended.exitCode !== 7) throw new Error(`the room does not work: ${ended.stderr}`);
      return lines.map((_, index) => ({
        programs: fs
          .readFileSync(join(logs!, String(index)), "utf8")
          .split("\n")
          .filter((note) => note.startsWith("exec "))
          .map((note) => note.slice(5)),
        isSprung: fs.existsSync(join(logs!, `${index}.sprung`)),
      }));
    },
    snapshot() {
      const found = new Map<string, string>();
      for (const entry of fs.readdirSync(workspace!, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        if (relative(workspace!, path).startsWith("plain/")) continue;
        const content = entry.isFile() ? createHash("sha256").update(fs.readFileSync(path)).digest("hex") : "";
        const target = entry.isSymbolicLink() ? fs.readlinkSync(path) : "";
        found.set(relative(workspace!, path), `${fs.lstatSync(path).mode} ${content} ${target}`);
      }
      return found;
    },
    [Symbol.dispose]: () => fs.rmSync(room, { recursive: true, force: true }),
  };
}

function compile(target: string, source: string, ...flags: string[]): void {
  const { status, stderr } = spawnSync("gcc", ["-O1", "-o", target, ...flags, "-x", "c", "-"], { input: source });
  if (status !== 0) throw new Error(`gcc: ${stderr.toString()}`);
}

/** `mark`: the file that a sprung trap makes. */
function plant(root: string, mark: string): void {
  fs.mkdirSync(root);
  const write = (path: string, text: string, mode = 0o644): void => {
    fs.mkdirSync(join(root, path, ".."), { recursive: true });
    fs.writeFileSync(join(root, path), text, { mode });
  };
  const trap = "./trap";
  write("trap", `#!/bin/sh\necho "$0 $*" >> '${mark}'\n`, 0o755);
  write("a.txt", "one\n");
  write("b.txt", "two\n");
  git(root, "init", "--quiet", "--initial-branch=main");
  git(root, "config", "user.name", "Ann");
  git(root, "config", "user.email", "ann@example.org");
  git(root, "add", "a.txt", "b.txt");
  git(root, "commit", "--quiet", "-m", "first");
  git(root, "branch", "other");
  write("a.txt", "one\nmore\n");
  git(root, "commit", "--quiet", "-am", "second");
  write("b.txt", "two\nmore\n");
  for (const hook of HOOKS) write(`.git/hooks/${hook}`, `#!/bin/sh\necho hook >> '${mark}'\n`, 0o755);
  write(".gitattributes", "* diff=trap filter=trap merge=trap\n");
  const settings = HOSTILE.map(
    ([key, value]) => `[${key.slice(0, key.lastIndexOf("."))}]\n${key.slice(key.lastIndexOf(".") + 1)} = ${value}\n`,
  )
    .map((text) => text.replace(/^\[(\w+)\.([^\]]+)\]/, '[$1 "$2"]'))
    .join("");
  write(".gitconfig", settings);
  write(".config/git/config", settings);
  write(".curlrc", "output = from-curlrc\n");
  write(".wgetrc", "output_document = from-wgetrc\n");
  write(".config/ripgrep/config", `--pre=${trap}\n`);
  write(".ripgreprc", `--pre=${trap}\n`);
  write(".npmrc", `node-options=--require=./trap.js\n`);
  write(".lessfilter", `#!/bin/sh\necho less >> '${mark}'\n`, 0o755);
  write(".inputrc", "$include trap\n");
  write("sitecustomize.py", `open(${JSON.stringify(mark)}, "w").close()\n`);
  write("options", "--plugin=./trap.so\n");
  write("Makefile", `all:\n\t${trap}\n`);
  compile(
    join(root, "trap.so"),
    `#include <stdio.h>
    __attribute__((constructor)) static void spring(void) { FILE *f = fopen(${JSON.stringify(mark)}, "a"); if (f) fclose(f); }
    int onload(void *t) { (void)t; return 0; }`,
    "-shared",
    "-fPIC",
  );
  fs.symlinkSync(".git", join(root, "plain"));
  spawnSync("tar", ["cf", "a.tar", "a.txt"], { cwd: root });
}

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env["PATH"], HOME: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const { status, stderr } = spawnSync("git", args, { cwd, env });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.toString()}`);
}

const HOOKS =
  `pre-commit prepare-commit-msg commit-msg post-commit post-checkout post-merge pre-merge-commit post-index-change
  reference-transaction post-rewrite pre-auto-gc fsmonitor-watchman`
    .trim()
    .split(/\s+/);

/** git-config(1): settings whose value git runs as a program, and a command that makes it do so with the ordinary environment. */
export const HOSTILE: readonly (readonly [key: string, value: string, sprungBy?: string])[] = [
  ["core.fsmonitor", "./trap", "git status"],
  ["core.hooksPath", ".git/hooks", "git commit --allow-empty -m x"],
  ["core.editor", "./trap", "git commit --allow-empty"],
  ["sequence.editor", "./trap"],
  ["core.pager", "./trap"],
  ["pager.log", "./trap"],
  ["core.sshCommand", "./trap"],
  ["core.askPass", "./trap"],
  ["core.gitProxy", "./trap"],
  ["core.alternateRefsCommand", "./trap"],
  ["credential.helper", "./trap"],
  ["gpg.program", "./trap", "git tag -s -m x signed"],
  ["commit.gpgSign", "true"],
  ["interactive.diffFilter", "./trap"],
  ["alias.trapped", "!./trap"],
  ["diff.external", "./trap", "git diff"],
  ["diff.trap.command", "./trap", "git diff"],
  ["diff.trap.textconv", "./trap", "git log -p"],
  ["filter.trap.clean", "./trap", "git status"],
  ["filter.trap.smudge", "./trap", "git checkout other a.txt"],
  ["filter.trap.process", "./trap", "git add b.txt"],
  ["merge.trap.driver", "./trap", "git cherry-pick conflict"],
  ["trailer.x.cmd", "./trap", "git commit --allow-empty -m x --trailer x=y"],
  ["include.path", "../.gitconfig", "git status"],
  ["core.attributesFile", ".gitattributes"],
];
