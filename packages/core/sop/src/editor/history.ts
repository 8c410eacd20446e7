/** Procedures as they were before each change that was saved. */
import { diffOf, type DiffLine, type Version, VersionStore } from "@svc/config/versions";
import { SOP_MD, SOP_TOML } from "../library/types.ts";
import type { FileTexts, PendingChange } from "../library/files.ts";

export type SopChange = "create" | "change" | "delete" | "rename" | "undo";

/** `keys`: names of the procedures. */
export interface SopVersion extends Version {
  readonly what: SopChange;
}

export interface SopFileDiff {
  readonly sop: string;
  readonly file: string;
  readonly lines: readonly DiffLine[];
}

export interface SopVersionDetail extends SopVersion {
  /** What it did to the files. */
  readonly changes: readonly SopFileDiff[];
  /** What an undo would do to them as they are now. */
  readonly undo: readonly SopFileDiff[];
  /** Of the files as they are now: an undo of what was looked at undoes no more. */
  readonly revision: string;
}

/** By name. */
interface Before {
  readonly what: SopChange;
  readonly before: { readonly [name: string]: FileTexts };
}

const MOST_VERSIONS = 200;

export class SopHistory {
  readonly #store: VersionStore<Before>;

  /** `sops`: the folder of all procedures; a home may be used with another workspace. */
  constructor(folder: string, sops: string) {
    this.#store = new VersionStore<Before>({
      folder,
      subject: sops,
      most: MOST_VERSIONS,
      isBefore: ({ keys, before }) =>
        (keys as string[]).every((name) => isTexts((before as Before["before"] | undefined)?.[name])),
      unwritable: "SOP_UNWRITABLE",
    });
  }

  /** Returns its number. Throws SOP_UNWRITABLE. */
  keep(change: PendingChange, { at, by, what }: Pick<SopVersion, "at" | "by" | "what">): number {
    const before = Object.fromEntries([...change].map(([name, replaced]) => [name, replaced.before]));
    return this.#store.keep({ at, by, keys: [...change.keys()], what, before });
  }

  drop(version: number): void {
    this.#store.drop(version);
  }

  /** The newest first. `name`: of one procedure alone. */
  list(name?: string): SopVersion[] {
    return this.#store
      .list()
      .filter(({ keys }) => name === undefined || keys.includes(name))
      .map(({ version, at, by, keys, what }) => ({ version, at, by, keys, what }));
  }

  /** Throws VERSION_UNKNOWN. */
  read(version: number): Pick<SopVersion, "keys"> & Pick<Before, "before"> {
    return this.#store.read(version);
  }

  /** `now`: the procedures of the version as they are. `redact`: takes secrets out of a text. Throws VERSION_UNKNOWN. */
  detail(
    version: number,
    now: ReadonlyMap<string, FileTexts>,
    redact: (text: string) => string,
  ): Omit<SopVersionDetail, "revision"> {
    const { at, by, keys, what, before } = this.#store.read(version);
    const newer = this.#store.list().filter((other) => other.version > version);
    const after = (name: string): FileTexts =>
      newer.findLast((other) => other.keys.includes(name))?.before[name] ?? now.get(name) ?? {};
    const changes = keys.flatMap((name) => diffs(name, before[name]!, after(name), redact));
    const undo = keys.flatMap((name) => diffs(name, now.get(name) ?? {}, before[name]!, redact));
    return { version, at, by, keys, what, changes, undo };
  }
}

const isTexts = (texts: FileTexts | undefined): boolean => typeof texts === "object" && texts !== null;

const FILES = [
  [SOP_TOML, "toml"],
  [SOP_MD, "markdown"],
] as const;

const diffs = (sop: string, from: FileTexts, to: FileTexts, redact: (text: string) => string): SopFileDiff[] =>
  FILES.flatMap(([file, key]) => {
    if (from[key] === to[key]) return [];
    return [{ sop, file, lines: diffOf(redact(from[key] ?? ""), redact(to[key] ?? "")) }];
  });
