/** The procedures of a workspace, as their files are now. */
import { join } from "node:path";
import type { Clock, Logger } from "@svc/contract";
import type { DefinitionRules } from "./definition.ts";
import { type FolderWatch, watchFolders } from "./folder-watch.ts";
import { NAME_RULE } from "./file-names.ts";
import { listFolders, MOST_SOPS, workspaceOf } from "./folders.ts";
import { AT_A_TIME, inParallel } from "./in-parallel.ts";
import { tellChanges } from "./log-changes.ts";
import type { ReservedPaths } from "./path-rules.ts";
import { PENDING } from "./pending.ts";
import { SETTLE_MS, settledStamp } from "./settled.ts";
import { changes, type Kept, kept, type Shelf, shown, type Shown } from "./shelf.ts";
import { fileStamp } from "./stamp.ts";
import type { BrokenSop, ExecutionMode, LoadedSop, SopDefinition, SopLibrary, SopTriggerEvent } from "./types.ts";

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
      if (after?.text === settled?.text) return checked && kept(before, stamp, checked);
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
