/** A procedure that is being written, as /api and `svc sop --json` show it. */
import { basename } from "node:path";
import type * as api from "@svc/api";
import type { Problem } from "@svc/config";
import type { SavedSop, SopSource, UndoneSop } from "../editor/types.ts";
import type { SopVersion, SopVersionDetail } from "../editor/history.ts";
import type { SopDraft } from "../editor/draft.ts";
import { orNull } from "./values.ts";

export const draftJson = ({ toml, markdown, problems, warnings, form }: SopDraft): api.SopDraft => ({
  toml,
  markdown: orNull(markdown),
  problems: problems.map(problemJson),
  warnings: warnings.map(problemJson),
  form,
});

export const sourceJson = (source: SopSource): api.SopSource => ({
  name: source.name,
  revision: source.revision,
  unwritable: orNull(source.unwritable),
  ...draftJson(source),
});

export const savedJson = (saved: SavedSop): api.SopSaved => ({ ...undoneJson(saved), revision: saved.revision });

export const undoneJson = ({ name, revision, version, warnings }: UndoneSop): api.SopUndone => ({
  name,
  revision: orNull(revision),
  version: version ?? null,
  warnings: warnings.map(problemJson),
});

export const versionJson = ({ version, at, by, keys, what }: SopVersion): api.SopVersion => ({
  version,
  at,
  by,
  what,
  sops: [...keys],
});

export const versionDetailJson = (detail: SopVersionDetail): api.SopVersionDetail => ({
  ...versionJson(detail),
  changes: detail.changes,
  undo: detail.undo,
  revision: detail.revision,
});

const problemJson = ({ file, line, column, key, message, allowed, didYouMean }: Problem): api.SopProblem => ({
  file: file === undefined ? null : basename(file),
  line: line ?? null,
  column: column ?? null,
  key,
  message,
  allowed: orNull(allowed),
  did_you_mean: orNull(didYouMean),
});
