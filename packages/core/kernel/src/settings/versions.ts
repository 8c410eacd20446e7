/** The config as it was before each write: files of the home that only its user may read, the secrets in them encrypted. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { createExclusively } from "../exclusive-file.ts";

export interface Version {
  readonly version: number;
  /** UTC. */
  readonly at: string;
  /** Who saved it. */
  readonly by: string;
  /** What was changed. */
  readonly keys: readonly string[];
}

export interface KeptVersion extends Omit<Version, "version"> {
  /** The file's text before the write. */
  readonly before: string;
  readonly mark: string;
  /** Of the file after the write. */
  readonly revision: string;
}

const MOST = 50;
const NAME = /^(\d{1,9})\.json$/;

export class VersionStore {
  readonly #folder: string;
  readonly #file: string;

  /** `file`: whose versions these are; a home may be used with another config. */
  constructor(root: string, file: string) {
    this.#folder = join(root, "versions");
    this.#file = file;
  }

  /** Returns its number. Throws CONFIG_UNWRITABLE: a write that can't be undone is not made. */
  keep(version: KeptVersion): number {
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const numbers = this.#numbers();
      let number = (numbers.at(-1) ?? 0) + 1;
      const text = `${JSON.stringify({ file: this.#file, ...version })}\n`;
      while (!createExclusively(this.#path(number), text)) number += 1;
      for (const old of numbers.slice(0, Math.max(0, numbers.length + 1 - MOST))) this.drop(old);
      return number;
    } catch (cause) {
      const isFull = ["ENOSPC", "EDQUOT"].includes((cause as NodeJS.ErrnoException).code ?? "");
      throw new SvcError(
        "CONFIG_UNWRITABLE",
        `${this.#folder} can't be written${isFull ? ": the disk is full" : ""}.`,
        {
          hint: isFull ? "Free some space, then save again." : "Make the home writable for this user.",
          cause,
        },
      );
    }
  }

  drop(version: number): void {
    rmSync(this.#path(version), { force: true });
  }

  /** The newest first; one that can't be read is left out. */
  list(): Version[] {
    return this.#numbers()
      .toReversed()
      .flatMap((version) => {
        const kept = this.#kept(version);
        return kept ? [{ version, at: kept.at, by: kept.by, keys: kept.keys }] : [];
      });
  }

  /** Throws VERSION_UNKNOWN. */
  read(version: number): KeptVersion {
    const kept = this.#kept(version);
    if (!kept) throw new SvcError("VERSION_UNKNOWN");
    return kept;
  }

  #kept(version: number): KeptVersion | undefined {
    try {
      const kept = JSON.parse(readFileSync(this.#path(version), "utf8")) as KeptVersion & { file: string };
      return kept.file === this.#file && typeof kept.before === "string" && Array.isArray(kept.keys) ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  #numbers(): number[] {
    try {
      const names = readdirSync(this.#folder).map((name) => NAME.exec(name)?.[1]);
      return names.flatMap((digits) => (digits === undefined ? [] : [Number(digits)])).sort((a, b) => a - b);
    } catch {
      return [];
    }
  }

  #path(version: number): string {
    return join(this.#folder, `${version}.json`);
  }
}
