// A listed command that starts a program which nobody listed, or makes a file that does so later: by an option, by settings that lie
// in the workspace, by what a repository's configuration names.
import * as fs from "node:fs";
import { basename, join } from "node:path";
import { requireReal } from "@svc/testkit/require-real";
import * as fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { judgeLine } from "../src/policy/command-line.ts";
import { PROGRAM_RULES } from "../src/policy/program-rules.ts";
import { HOSTILE, missingPart, openTrapRoom, type Ran, type TrapRoom } from "./unasked-fixture.ts";

const missing = missingPart();
let room: TrapRoom;
beforeAll(() => {
  if (!missing) room = openTrapRoom();
});
afterAll(() => {
  if (!missing) room[Symbol.dispose]();
});
beforeEach((context) => {
  if (missing) requireReal(context, missing);
  room.reset();
});

const judged = (line: string, folder = "."): string | undefined =>
  judgeLine(line, {
    allowedCommands: [...PROGRAM_RULES.keys()],
    forbiddenPaths: [],
    workspace: room.workspace,
    folder,
  });
const asks = (line: string): boolean => judged(line) !== undefined;

describe("with the settings that lie in the workspace", () => {
  test.each([
    "git status",
    "git diff",
    "git log -p",
    "git show",
    "git blame a.txt",
    "git add b.txt",
    "git commit --allow-empty -m x",
    "git stash",
    "git switch other",
    "curl --silent file:///dev/null",
    "git tag x",
  ])("%s runs unasked and starts nothing else", async (line) => {
    expect(asks(line)).toBe(false);
    const [ran] = await room.run([line], true);
    expect(ran).toMatchObject({ isSprung: false });
    expect(
      ran!.programs
        .map((path) => basename(path))
        .filter((name) => !["dash", "sh", "bash", "git", "curl"].includes(name)),
    ).toEqual([]);
    expect(fs.existsSync(join(room.workspace, "from-curlrc"))).toBe(false);
  });

  test("what a person approved finds them", async () => {
    expect(await room.run(["git diff", "./trap"], false)).toMatchObject([{ isSprung: true }, { isSprung: true }]);
  });
});

describe("a repository whose configuration names a program", () => {
  test.each(HOSTILE)("%s = %s", async (key, value, sprungBy) => {
    fs.rmSync(join(room.workspace, ".gitconfig"));
    fs.rmSync(join(room.workspace, ".config"), { recursive: true });
    if (key === "include.path") fs.writeFileSync(join(room.workspace, ".gitconfig"), "[core]\nfsmonitor = ./trap\n");
    if (key !== "core.hooksPath") fs.rmSync(join(room.workspace, ".git/hooks"), { recursive: true });
    if (key === "merge.trap.driver") {
      await room.run(
        [
          "git checkout -q other -- a.txt && git commit -qam back && git tag base",
          "git switch -qc side && echo side > b.txt && git commit -qam side && git tag conflict && git switch -q main && echo mine > b.txt && git commit -qam mine",
        ],
        false,
      );
    }
    const line = sprungBy ?? "git status";
    await room.run([`git config ${key} '${value}'`], false);
    const ran = sprungBy === undefined ? [] : await room.run([sprungBy], false);
    expect(ran.every(({ isSprung }) => isSprung)).toBe(true);
    expect(asks(line)).toBe(true);
  });

  test.each([
    ["a link", (git: string) => (fs.renameSync(git, `${git}-real`), fs.symlinkSync(`${git}-real`, git))],
    [
      "a file that leads to another place",
      (git: string) => (fs.renameSync(git, `${git}-real`), fs.writeFileSync(git, "gitdir: .git-real\n")),
    ],
    ["one with a common folder elsewhere", (git: string) => fs.writeFileSync(join(git, "commondir"), "../other\n")],
    [
      "a configuration that is a link",
      (git: string) => (
        fs.renameSync(join(git, "config"), `${git}-config`),
        fs.symlinkSync(`${git}-config`, join(git, "config"))
      ),
    ],
    [
      "a setting behind its section",
      (git: string) => fs.appendFileSync(join(git, "config"), "[core] fsmonitor = ./trap\n"),
    ],
    [
      "a continued line",
      (git: string) => fs.appendFileSync(join(git, "config"), "[core]\n filemode = true \\\n[core]\n"),
    ],
    ["submodules", (git: string) => fs.writeFileSync(join(git, "../.gitmodules"), '[submodule "s"]\n')],
    ["an index that can't be read", (git: string) => fs.writeFileSync(join(git, "index"), "DIRC")],
    [
      "none with a working tree",
      (git: string) => (
        fs.renameSync(git, `${git}-real`),
        fs.writeFileSync(join(git, "../HEAD"), "ref: refs/heads/main\n")
      ),
    ],
  ])("asks for %s", (_, change) => {
    expect(asks("git status")).toBe(false);
    change(join(room.workspace, ".git"));
    expect(asks("git status")).toBe(true);
  });

  test("asks where the index holds another repository", async () => {
    const made = "git init -q sub && cp -r .git/objects .git/refs .git/HEAD sub/.git && git add sub";
    await room.run([made], false);
    expect(asks("git status")).toBe(true);
  });

  test("asks where one above has such settings, behind one that is not whole", async () => {
    fs.mkdirSync(join(room.workspace, "deep/.git"), { recursive: true });
    const at = () => judged("git status", "deep");
    expect(at()).toBeUndefined();
    fs.appendFileSync(join(room.workspace, ".git/config"), '[filter "x"]\n\tclean = ./trap\n');
    expect(at()).toBeDefined();
  });

  test("its folders are judged as it is", () => {
    const at = (folder: string) => judged("git status", folder);
    fs.mkdirSync(join(room.workspace, "deep/er"), { recursive: true });
    expect(at("deep/er")).toBeUndefined();
    for (const folder of [".git", ".git/hooks", "..", "nowhere"])
      expect([folder, at(folder)]).not.toEqual([folder, undefined]);
    fs.appendFileSync(join(room.workspace, ".git/config"), '[filter "x"]\n\tclean = ./trap\n');
    expect(at("deep/er")).toBeDefined();
  });
});

/** `program: options`, from the manual pages. */
const OPTIONS = fs
  .readFileSync(join(import.meta.dirname, "program-options.txt"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2).split(" ")] as const);

const VALUES = ["", "=out.txt", "=.gitconfig", "=./trap", " ./trap", "=./trap.so", "=1"];
const OPERANDS = [
  "",
  "a.txt",
  "a.txt b.txt",
  "HEAD",
  "trap.so",
  "a.tar",
  "@options",
  ".",
  "file:///dev/null",
  "a.txt out.txt",
  "a.txt .git/config",
  "config refs/heads/main",
  "a.txt plain/config",
];

const FOLLOWERS = new Set(["sleep", "printenv"]);
const GIT_READERS = new Set(
  "status log diff show rev-parse rev-list ls-files ls-tree cat-file blame describe shortlog grep merge-base show-ref for-each-ref version".split(
    " ",
  ),
);
/** Programs that a listed one starts by design, always the system's own. */
const HELPERS: Readonly<Record<string, readonly string[]>> = {
  tar: ["gzip", "bzip2", "xz", "zstd"],
  unzip: ["gzip"],
  egrep: ["grep", "dash", "sh"],
  fgrep: ["grep", "dash", "sh"],
  diff3: ["diff"],
  sdiff: ["diff"],
};

interface Case {
  readonly program: string;
  readonly line: string;
}

function* cases(): Generator<Case> {
  for (const [name, options] of OPTIONS) {
    const program = name.split(" ")[0] as string;
    if (FOLLOWERS.has(program)) continue;
    for (const option of ["", ...options]) {
      for (const value of VALUES) {
        // What a program that writes makes of a link is the trust of listing it.
        const operands = OPERANDS.filter((operand) => program === "git" || !operand.includes("plain"));
        for (const operand of operands) yield { program: name, line: `${name} ${option}${value} ${operand}`.trim() };
      }
    }
  }
}

/** Programs that were started and should not be, and traps. */
function wrongStarts(name: string, ran: Ran): string[] {
  const [program = ""] = name.split(" ");
  // cat and false are what is put in place of pagers, editors and helpers.
  const known = new Set([program, "cat", "false", ...(HELPERS[program] ?? [])]);
  const isStrange = (path: string, index: number): boolean =>
    !(index === 0 && /^(?:da|ba)?sh$/.test(basename(path))) && !known.has(basename(path)) && !isSame(path, program);
  return [
    ...(ran.isSprung ? ["sprang a trap"] : []),
    ...ran.programs.filter(isStrange).map((path) => `started ${path}`),
  ];
}

/** Files that were changed and should not be: all that a reader changed, and settings that others made or changed. */
function wrongChanges(name: string, before: Map<string, string>): string[] {
  const [program = "", subcommand = ""] = name.split(" ");
  const isReader = program === "git" ? GIT_READERS.has(subcommand) : PROGRAM_RULES.get(program)?.reads === true;
  const after = room.snapshot();
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  const isWrong = (path: string): boolean => {
    if (path === ".git/index") return false;
    if (isReader) return true;
    if (subcommand === "init" && /\/\.git(?:\/|$)/.test(path)) return false;
    // Git writes settings of its own there; they must stay plain.
    if (program === "git" && path === ".git/config") return asks("git status");
    return isSettings(path) && after.has(path);
  };
  return changed.filter(isWrong).map((path) => `changed ${path}`);
}

/** A hidden file, but of a repository only its settings and hooks. */
const isSettings = (path: string): boolean =>
  path.startsWith(".git/")
    ? /^\.git\/(?:config|hooks|info)/.test(path)
    : path.split("/").some((part) => part.startsWith("."));

/** One program under two names, and parts of git. */
const isSame = (path: string, program: string): boolean =>
  (program === "git" && path.includes("/git-core/")) ||
  ["/usr/bin", "/bin"].some((folder) => {
    const file = join(folder, program);
    return fs.existsSync(file) && fs.realpathSync(file) === path;
  });

const BATCH = 40;

test(
  "no documented option makes a listed program start another, or write where it only reads",
  { timeout: 900_000 },
  async () => {
    const all = [...cases()];
    const wanted = Number(process.env["SVC_FUZZ_RUNS"] ?? 1000);
    const places = fc.sample(fc.integer({ min: 0, max: all.length - 1 }), { numRuns: wanted, seed: 17 });
    const chosen = wanted >= all.length ? all : places.map((place) => all[place]!);
    const byProgram = Map.groupBy(chosen, ({ program }) => program);
    const found: string[] = [];
    let ran = 0;
    for (const [name, group] of byProgram) {
      const allowed = [...new Set(group.map(({ line }) => line))].filter((line) => !asks(line));
      ran += allowed.length;
      for (let from = 0; from < allowed.length; from += BATCH)
        found.push(...(await watched(name, allowed.slice(from, from + BATCH))));
    }
    expect(found).toEqual([]);
    expect(ran).toBeGreaterThan(wanted / 4);
  },
);

/** Together at first; one by one where something was wrong. */
async function watched(name: string, lines: readonly string[]): Promise<string[]> {
  room.reset();
  const before = room.snapshot();
  const runs = await room.run(lines, true);
  const starts = runs.flatMap((run, index) => wrongStarts(name, run).map((what) => `${lines[index]}: ${what}`));
  const changes = wrongChanges(name, before).map((what) => `${lines.join(" && ")}: ${what}`);
  const wrong = [...starts, ...changes];
  if (wrong.length === 0 || lines.length === 1) return wrong;
  const alone: string[] = [];
  for (const line of lines) alone.push(...(await watched(name, [line])));
  return alone.length > 0 ? alone : wrong;
}

test("the tracer works: an option that starts a program and one that writes a file are seen", async () => {
  expect(
    (await watched("sort", ["sort --compress-program=./trap -S 1 trap.so", "sort -o out.txt a.txt"])).join(),
  ).toContain("changed out.txt");
  expect((await watched("git diff", ["git diff --output=.gitconfig"])).join()).toContain("changed .gitconfig");
  expect((await watched("nm", ["nm --plugin=./trap.so a.txt"])).join()).toContain("sprang a trap");
  expect((await watched("find", ["find a.txt -exec ./trap ;".replace(";", "';'")])).join()).toContain("started");
});
