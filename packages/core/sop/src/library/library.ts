/** The procedures of a workspace, as their files are now. */
import { basename, dirname, join, sep } from "node:path";
import type { Clock, Logger } from "@svc/contract";
import type { CheckedSop, DefinitionRules } from "./definition.ts";
import {
  type BrokenSop,
  type ExecutionMode,
  type LoadedSop,
  NAME_RULE,
  SOP_MD,
  SOP_TOML,
  type SopDefinition,
  type SopLibrary,
  type SopTriggerEvent,
} from "./types.ts";
import { AT_A_TIME, MOST_SOPS, inParallel, listFolders, workspaceOf } from "./folders.ts";
import type { ReservedPaths } from "./rules.ts";
import { PENDING, SETTLE_MS, fileStamp, settledStamp } from "./files.ts";
import { type FSWatcher, watch } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { type Problem, formatProblems } from "@svc/config";
import { type TriggerIndex, indexTriggers } from "../triggers/match.ts";

/** The functions answer as it is now: a reload of the config may change it, and the next `reload` here goes by it. */
export interface LibraryOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Absolute path of `<workspace>/sops`; it need not exist. */
  readonly folder: () => string;
  readonly defaultMode: () => ExecutionMode;
  readonly reserved: () => ReservedPaths;
  readonly toolPairs?: () => DefinitionRules["toolPairs"];
}

/** Empty until the first `reload`. */
export const createLibrary = (options: LibraryOptions): SopLibrary => new Library(options);

/** As they are now. */
export const rulesOf = ({
  defaultMode,
  reserved,
  toolPairs = () => [],
}: Pick<LibraryOptions, "defaultMode" | "reserved" | "toolPairs">): DefinitionRules => ({
  defaultMode: defaultMode(),
  reserved: reserved(),
  toolPairs: toolPairs() ?? [],
});

/** At one that somebody changes each time it is read. */
const MOST_LOOKS = 5;
/** Where no change is told, this is how long one takes to be seen. */
const LOOK_AGAIN_MS = 30_000;

class Library implements SopLibrary {
  readonly #options: LibraryOptions;
  readonly #listeners: (() => void)[] = [];
  #shelf: Shelf = new Map();
  #shown: Shown = shown(new Map());
  #rules = "";
  #running: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #watch: FolderWatch | undefined;
  #cancelLook = (): void => {};
  #cancelSoon: (() => void) | undefined;
  #saidTooMany = false;

  constructor(options: LibraryOptions) {
    this.#options = options;
  }

  list(): readonly LoadedSop[] {
    return this.#shown.list;
  }

  get(name: string): LoadedSop | undefined {
    return this.#shown.get(name);
  }

  broken(): readonly BrokenSop[] {
    return this.#shown.broken;
  }

  matching(event: SopTriggerEvent): readonly SopDefinition[] {
    return this.#shown.matching(event);
  }

  hasPath(path: string): boolean {
    return this.#shown.hasPath(path);
  }

  crons(): ReturnType<SopLibrary["crons"]> {
    return this.#shown.crons();
  }

  /** One at a time; whoever asks while one runs is given the next, which sees all that was written before. */
  reload(): Promise<void> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      this.#running = this.#read().catch((error: unknown) => this.#failed(error));
      return this.#running;
    });
    return this.#next;
  }

  exclusively<Result>(act: () => Promise<Result>): Promise<Result> {
    const done = (this.#next ?? this.#running).then(act);
    this.#running = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  watch(): void {
    this.#watch ??= watchFolders(() => this.#soon(), this.#options.log);
    this.#lookAgain();
  }

  stop(): void {
    this.#cancelLook();
    this.#cancelSoon?.();
    this.#watch?.stop();
    this.#watch = undefined;
  }

  /** Not put off by each further change: something that is written on and on must not keep all others waiting. */
  #soon(): void {
    this.#cancelSoon ??= this.#options.clock.after(SETTLE_MS, () => {
      this.#cancelSoon = undefined;
      if (this.#watch) void this.reload();
    });
  }

  #lookAgain(): void {
    this.#cancelLook();
    if (!this.#watch) return;
    void this.reload();
    this.#cancelLook = this.#options.clock.after(LOOK_AGAIN_MS, () => this.#lookAgain());
  }

  async #read(): Promise<void> {
    const folder = this.#options.folder();
    const rules = rulesOf(this.#options);
    const { names, misnamed, tooMany, pending } = await listFolders(folder);
    const change = pending && (await fileStamp(join(folder, PENDING)));
    // First: what is written while they are read is told.
    this.#watch?.follow(folder, names);
    const root = await workspaceOf(folder);
    const known = JSON.stringify([folder, root, rules]);
    const before = known === this.#rules ? this.#shelf : new Map([...this.#shelf].map(stampless));
    const read = await inParallel(names, AT_A_TIME, async (name) => {
      const changing = pending?.has(name) ? ` ${change}` : "";
      const one = await this.#readOne(join(folder, name), changing, { root, rules, before: before.get(name) });
      return one && ([name, one] as const);
    });
    const others = misnamed.map((name) => [name, { stamp: "", definition: undefined, problem: NAME_RULE }] as const);
    this.#rules = known;
    this.#publish(new Map([...read.filter((one) => one !== undefined), ...others]));
    if (tooMany && !this.#saidTooMany)
      this.#options.log.warn(`there are more than ${MOST_SOPS} procedures; the last of them are not loaded`);
    this.#saidTooMany = tooMany;
  }

  async #readOne(
    folder: string,
    changing: string,
    { root, rules, before }: { root: string; rules: DefinitionRules; before: Kept | undefined },
  ): Promise<Kept | undefined> {
    for (let look = 0; look < MOST_LOOKS; look += 1) {
      const settled = await settledStamp(folder, this.#options.clock);
      const stamp = settled && settled.text + changing;
      if (stamp === undefined || stamp === before?.stamp) return before;
      // Loaded with the first procedure there is: the start of a service that has none does without it.
      const { checkFolder } = await import("./check.ts");
      const checked = await checkFolder(folder, root, rules);
      const after = await settledStamp(folder, this.#options.clock);
      if (after?.text === settled?.text) return checked && nextVersion(before, stamp, checked);
      if (!after) return before;
    }
    return before;
  }

  #publish(shelf: Shelf): void {
    const made = changes(this.#shelf, shelf);
    this.#shelf = shelf;
    if (made.length === 0) return;
    this.#shown = shown(shelf);
    tellChanges(this.#options.log, made);
    for (const listener of this.#listeners) listener();
  }

  #failed(error: unknown): void {
    const { code } = error as NodeJS.ErrnoException;
    this.#options.log.error("the folder of procedures can't be read; those that are loaded stay", { code });
  }
}

const stampless = ([name, one]: readonly [string, Kept]): [string, Kept] => [name, { ...one, stamp: "" }];

// What the log says of procedures that came, changed, went or turned bad.

/** More good news at once is a line together: a start loads thousands. */
const MOST_LINES = 10;

function tellChanges(log: Logger, changes: readonly Change[]): void {
  const good = changes.filter(({ kind }) => kind === "loaded" || kind === "removed");
  if (good.length > MOST_LINES) {
    const loaded = good.filter(({ kind }) => kind === "loaded").length;
    log.info("procedures were read", { loaded, removed: good.length - loaded });
  } else {
    for (const { name, kind } of good) log.info(kind === "loaded" ? LOADED : "a procedure was removed", { sop: name });
  }
  for (const { name, kind, problem } of changes) {
    if (kind === "turned-bad") log.warn(TURNED_BAD, { sop: name, problem });
    if (kind === "broken") log.warn("a procedure's files are wrong; it is not loaded", { sop: name, problem });
  }
}

const LOADED = "a procedure was loaded";
const TURNED_BAD = "a procedure's files are wrong now; the version before stays in force";

/**
 * Tells when something changes in the folders of procedures. Each folder is watched by itself: to watch a tree as a whole, Node walks
 * through it on Linux, and misses what is written to a folder while it is being found. It is only a reason to look soon; where nothing is
 * told (a full inotify table, a network's file system) the next look comes by itself.
 */
interface FolderWatch {
  /** From now on these, and no others. */
  follow(folder: string, names: readonly string[]): void;
  stop(): void;
}

const FILES: ReadonlySet<string> = new Set([SOP_TOML, SOP_MD]);

function watchFolders(changed: () => void, log: Logger): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let isRefused = false;
  let saidRefused = false;

  /** Also what is below: it may be another folder of the same name by now. */
  const drop = (path: string): void => {
    for (const [one, watcher] of watchers) {
      if (one !== path && !one.startsWith(path + sep)) continue;
      watcher.close();
      watchers.delete(one);
    }
  };
  const refused = (code: string | undefined): void => {
    isRefused = true;
    if (!saidRefused) log.warn("changes of procedures are seen only every 30 s: the system watches no more", { code });
    saidRefused = true;
  };
  const open = (path: string, matters: (name: string) => boolean): void => {
    if (watchers.has(path) || isRefused) return;
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        if (name !== null && !matters(name)) return;
        if (name !== null && !FILES.has(name)) drop(join(path, name));
        changed();
      });
      watcher.on("error", () => drop(path));
      watchers.set(path, watcher);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "ENOENT" && code !== "ENOTDIR") refused(code);
    }
  };
  return {
    follow(folder, names) {
      const parent = dirname(folder);
      const wanted = new Set([parent, folder, ...names.map((name) => join(folder, name))]);
      for (const path of watchers.keys()) if (!wanted.has(path)) drop(path);
      isRefused = false;
      open(parent, (name) => name === basename(folder));
      open(folder, () => true);
      for (const name of names) open(join(folder, name), (file) => FILES.has(file));
    },
    stop() {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** What is known of each procedure: its last good version, and what is wrong with the newest. */
interface Kept {
  /** Of the files that were read. */
  readonly stamp: string;
  readonly definition: SopDefinition | undefined;
  readonly problem: string | undefined;
}

/** By name. */
type Shelf = ReadonlyMap<string, Kept>;

/** A version that is wrong does not take the place of one that was right. */
function nextVersion(before: Kept | undefined, stamp: string, { definition, problems, isMissing }: CheckedSop): Kept {
  const last = isMissing ? undefined : before?.definition;
  // The same object, so that whoever compares sees no change in a file that was only touched.
  if (definition)
    return { stamp, definition: isDeepStrictEqual(last, definition) ? last : definition, problem: undefined };
  return { stamp, definition: last, problem: sentenceOf(problems) };
}

/** The first of them, with file and line. */
function sentenceOf([first, ...more]: readonly Problem[]): string {
  const rest = more.length === 0 ? "" : `; and ${more.length} more (svc sop validate)`;
  return first ? `${formatProblems([first])}${rest}` : "";
}

interface Shown extends TriggerIndex {
  readonly list: readonly LoadedSop[];
  readonly broken: readonly BrokenSop[];
  get(name: string): LoadedSop | undefined;
}

function shown(shelf: Shelf): Shown {
  const list: LoadedSop[] = [];
  const broken: BrokenSop[] = [];
  for (const [name, { definition, problem }] of shelf) {
    if (definition) list.push({ definition, problem });
    else if (problem !== undefined) broken.push({ name, problem });
  }
  const byName = new Map(list.map((one) => [one.definition.name, one]));
  return { list, broken, get: (name) => byName.get(name), ...indexTriggers(list.map(({ definition }) => definition)) };
}

interface Change {
  readonly name: string;
  readonly kind: "loaded" | "removed" | "turned-bad" | "broken";
  readonly problem?: string;
}

function changes(before: Shelf, after: Shelf): Change[] {
  const removed = [...before].flatMap(([name, { definition }]): Change[] =>
    definition && !after.get(name)?.definition ? [{ name, kind: "removed" }] : [],
  );
  const others = [...after].flatMap(([name, now]): Change[] => {
    const was = before.get(name);
    if (was?.definition === now.definition && was?.problem === now.problem) return [];
    if (now.problem === undefined) return [{ name, kind: "loaded" }];
    return [{ name, kind: now.definition ? "turned-bad" : "broken", problem: now.problem }];
  });
  return [...removed, ...others];
}
