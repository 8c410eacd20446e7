/** `dist/<name>/build.json`: what a binary is and what it was made of. No time and no path of the machine is in it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { ChunkContents } from "./chunk-contents.ts";
import type { InputHashes } from "./inputs.ts";
import type { PageSize } from "./page.ts";
import type { Component } from "./sbom.ts";

export interface BuildRecord {
  readonly name: "svc";
  readonly version: string;
  /** As `svc --version` shows it. */
  readonly commit: string;
  readonly revision: string | null;
  /** Sources differ from the commit; null without git. */
  readonly dirty: boolean | null;
  readonly target: string;
  readonly profile: string;
  readonly with: readonly string[];
  readonly without: readonly string[];
  readonly features: readonly { readonly id: string; readonly package: string; readonly version: string }[];
  readonly planned: readonly string[];
  /** Features of the profile that do not exist for the target. */
  readonly skipped: readonly string[];
  /** macOS: without a certificate, so that a downloaded file needs its owner's word. Other systems want none. */
  readonly signature: "ad hoc" | null;
  /** Folders below packages/core that the bundle holds. */
  readonly core: readonly string[];
  readonly binary: { readonly file: string; readonly bytes: number; readonly sha256: string };
  /** `entryBytes`: evaluated before a command is chosen. */
  readonly js: { readonly bytes: number; readonly entryBytes: number; readonly chunks: number };
  /** By file name, what each chunk of the bundle holds. */
  readonly chunks: Readonly<Record<string, ChunkContents>>;
  /** What the gateway serves at `/`; not in `js`. */
  readonly page: PageSize;
  readonly node: {
    readonly package: string;
    readonly version: string;
    readonly sha256: string;
    readonly strippedBy: string | null;
  };
  readonly budget: Readonly<Record<string, { readonly limit: number; readonly used: number }>>;
  readonly sbom: readonly Component[];
  readonly inputs: InputHashes;
}

/** The record in `dir`, or undefined if it is missing or unreadable. */
export function readBuildRecord(dir: string): BuildRecord | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, "build.json"), "utf8")) as BuildRecord;
  } catch {
    return undefined;
  }
}
