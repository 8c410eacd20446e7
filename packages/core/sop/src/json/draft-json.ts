/** A procedure that is being written, as /api and `svc sop --json` show it. */
import { basename } from "node:path";
import type { Json } from "@svc/contract";
import type { Problem } from "@svc/config";
import type { SavedSop, SopSource } from "../editor/types.ts";
import type { SopVersion, SopVersionDetail } from "../editor/history.ts";
import type { SopDraft } from "../editor/draft.ts";
import { orNull } from "./values.ts";

export const draftJson = ({
  toml,
  markdown,
  problems,
  warnings,
  form,
}: SopDraft): { readonly [name: string]: Json } => ({
  toml,
  markdown: orNull(markdown),
  problems: problems.map(problemJson),
  warnings: warnings.map(problemJson),
  form,
});

export const sourceJson = (source: SopSource): Json => ({
  name: source.name,
  revision: source.revision,
  unwritable: orNull(source.unwritable),
  ...draftJson(source),
});

export const savedJson = ({ name, revision, version, warnings }: SavedSop): Json => ({
  name,
  revision: orNull(revision),
  version: version ?? null,
  warnings: warnings.map(problemJson),
});

export const versionJson = ({ version, at, by, keys, what }: SopVersion): { readonly [name: string]: Json } => ({
  version,
  at,
  by,
  what,
  sops: [...keys],
});

export const versionDetailJson = (detail: SopVersionDetail): Json => ({
  ...versionJson(detail),
  changes: detail.changes as unknown as Json,
  undo: detail.undo as unknown as Json,
  revision: detail.revision,
});

const problemJson = ({ file, line, column, key, message, allowed, didYouMean }: Problem): Json => ({
  file: file === undefined ? null : basename(file),
  line: line ?? null,
  column: column ?? null,
  key,
  message,
  allowed: orNull(allowed),
  did_you_mean: orNull(didYouMean),
});
