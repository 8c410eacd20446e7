/** What a backup says of itself, and which files one may hold. Whatever breaks these rules is no backup of svc. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";

/** Grows when an older svc could not restore what a newer one wrote. 2: with databases of features. */
const FORMAT = 2;
const FORMAT_WITHOUT_FEATURES = 1;
export const MANIFEST = "manifest.json";
/** Of the manifest itself; room for about 200 000 files. */
export const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;

export const DATABASE = "state/svc.db";
/** Databases that features keep beside svc's own, each in one file. */
export const FEATURE_DATABASES = "state/features";
export const CONFIG = "config.toml";
export const KEY = ".secret_key";
export const NEXT_KEY = ".secret_key.next";
export const WORKSPACE = "workspace";

/** Files of every backup by their most bytes; beside them only what is below `workspace/`. */
const MAX_BYTES: ReadonlyMap<string, number> = new Map([
  [CONFIG, 16 * 1024 * 1024],
  [KEY, 4096],
  [NEXT_KEY, 4096],
  [DATABASE, Number.MAX_SAFE_INTEGER],
]);
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;

const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/));
const bytes = v.pipe(v.number(), v.safeInteger(), v.minValue(0));

const file = v.pipe(
  v.strictObject({ path: v.pipe(v.string(), v.check(isBackupPath)), size: bytes, sha256 }),
  v.check(({ path, size }) => size <= (MAX_BYTES.get(path) ?? Number.MAX_SAFE_INTEGER)),
);

const manifest = v.strictObject({
  format: v.picklist([FORMAT_WITHOUT_FEATURES, FORMAT]),
  svc_version: v.pipe(v.string(), v.maxLength(100)),
  /** Null: the home had no database yet. */
  schema_version: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(1))),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
  files: v.pipe(
    v.array(file),
    v.check((files) => new Set(files.map(({ path }) => path)).size === files.length),
  ),
});

export type Manifest = v.InferOutput<typeof manifest>;
export type BackupFile = Manifest["files"][number];

/** The oldest format that can hold these files. */
export const formatOf = (files: readonly BackupFile[]): Manifest["format"] =>
  files.some(({ path }) => isFeatureDatabase(path)) ? FORMAT : FORMAT_WITHOUT_FEATURES;

const FEATURE_DATABASE = /^state\/features\/[a-z][a-z0-9-]{0,63}\.db$/;

export const isFeatureDatabase = (path: string): boolean => FEATURE_DATABASE.test(path);

/** Relative, with `/`, and leading nowhere but into its own folder, on whatever system it is unpacked. */
export function isBackupPath(path: string): boolean {
  if (MAX_BYTES.has(path) || isFeatureDatabase(path)) return true;
  const [first, ...names] = path.split("/");
  return (
    first === WORKSPACE && names.length > 0 && Buffer.byteLength(path) <= MAX_PATH_BYTES && names.every(isPlainName)
  );
}

/** Windows takes `\` for a separator and `:` for a drive or a stream of a file; nobody else needs them in a name. */
export const isPlainName = (name: string): boolean =>
  name !== "" &&
  name !== "." &&
  name !== ".." &&
  Buffer.byteLength(name) <= MAX_NAME_BYTES &&
  !/[\p{Cc}\\:\ufffd]/u.test(name);

/** Throws BACKUP_INVALID. */
export function parseManifest(text: string): Manifest {
  const value = parsed(text);
  const result = v.safeParse(manifest, value);
  if (result.success) return result.output;
  if (v.is(v.looseObject({ format: v.pipe(v.number(), v.minValue(FORMAT + 1)) }), value)) {
    throw new SvcError("BACKUP_INVALID", "The backup was made by a newer svc.", {
      hint: "Install that version, and restore it with it.",
    });
  }
  throw damaged("its list of files is malformed");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw damaged("its list of files is malformed", cause);
  }
}

export const damaged = (what: string, cause?: unknown): SvcError =>
  new SvcError("BACKUP_INVALID", `The backup can't be used: ${what}. Nothing was changed.`, { cause });
