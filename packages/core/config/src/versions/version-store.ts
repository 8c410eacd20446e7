/** Text files as they were before each write: one record per write, in a folder of the home that only its user may read. */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type ErrorCode, SvcError } from "@svc/contract";
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

export interface VersionStoreOptions {
  readonly folder: string;
  /** Path of the file or folder that is versioned; a home may be used with another config or workspace. */
  readonly subject: string;
  /** Older ones are removed. */
  readonly most: number;
  /** Whether a record that was read holds what the store keeps. */
  readonly isBefore: (record: { readonly [name: string]: unknown }) => boolean;
  /** When no version can be kept. */
  readonly unwritable: ErrorCode;
}

type Kept<Before> = Omit<Version, "version"> & Before;

const NAME = /^(\d{1,9})\.json$/;

export class VersionStore<Before extends object> {
  readonly #options: VersionStoreOptions;

  constructor(options: VersionStoreOptions) {
    this.#options = options;
  }

  /** Returns its number. Throws the code of `unwritable`: a write that can't be undone is not made. */
  keep(version: Kept<Before>): number {
    const { folder, subject, most, unwritable } = this.#options;
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const numbers = this.#numbers();
      let number = (numbers.at(-1) ?? 0) + 1;
      const text = `${JSON.stringify({ file: subject, ...version })}\n`;
      while (!createExclusively(this.#path(number), text)) number += 1;
      for (const old of numbers.slice(0, Math.max(0, numbers.length + 1 - most))) this.drop(old);
      return number;
    } catch (cause) {
      const isFull = ["ENOSPC", "EDQUOT"].includes((cause as NodeJS.ErrnoException).code ?? "");
      throw new SvcError(unwritable, `${folder} can't be written${isFull ? ": the disk is full" : ""}.`, {
        hint: isFull ? "Free some space, then save again." : "Make the home writable for this user.",
        cause,
      });
    }
  }

  drop(version: number): void {
    rmSync(this.#path(version), { force: true });
  }

  /** The newest first; one that can't be read is left out. */
  list(): (Kept<Before> & { readonly version: number })[] {
    return this.#numbers()
      .toReversed()
      .flatMap((version) => {
        const kept = this.#kept(version);
        return kept ? [{ ...kept, version }] : [];
      });
  }

  /** Throws VERSION_UNKNOWN. */
  read(version: number): Kept<Before> {
    const kept = this.#kept(version);
    if (!kept) throw new SvcError("VERSION_UNKNOWN");
    return kept;
  }

  #kept(version: number): Kept<Before> | undefined {
    try {
      const kept = JSON.parse(readFileSync(this.#path(version), "utf8")) as Kept<Before> & { file: string };
      const isOurs = kept.file === this.#options.subject && Array.isArray(kept.keys);
      return isOurs && this.#options.isBefore(kept as never) ? kept : undefined;
    } catch {
      return undefined;
    }
  }

  #numbers(): number[] {
    try {
      const names = readdirSync(this.#options.folder).map((name) => NAME.exec(name)?.[1]);
      return names.flatMap((digits) => (digits === undefined ? [] : [Number(digits)])).sort((a, b) => a - b);
    } catch {
      return [];
    }
  }

  #path(version: number): string {
    return join(this.#options.folder, `${version}.json`);
  }
}
