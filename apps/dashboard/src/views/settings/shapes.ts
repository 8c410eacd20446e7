/** Settings as the service tells them, and edits as it takes them. */
import type { DiffLine } from "../../components/saved-changes.tsx";
import { labelOf } from "../../texts/setting-texts.ts";
import { isMessage, t } from "../../texts/texts.ts";

export type Path = readonly (string | number)[];

export interface Field {
  readonly name: string;
  readonly type:
    | "string"
    | "integer"
    | "number"
    | "boolean"
    | "choice"
    | "list"
    | "object"
    | "record"
    | "union"
    | "any";
  readonly required: boolean;
  readonly default?: unknown;
  readonly description?: string;
  readonly secret?: boolean;
  /** A secret that is ours to choose. */
  readonly generate?: boolean;
  /** Worth asking for, though it may be left out. */
  readonly ask?: boolean;
  readonly restart?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly choices?: readonly (string | number | boolean)[];
  readonly fields?: readonly Field[];
  readonly item?: Field;
}

export interface SettingsSection {
  readonly name: string;
  readonly path: readonly string[];
  readonly core: boolean;
  readonly feature?: string;
  readonly kind?: string;
  readonly summary?: string;
  readonly title?: string;
  readonly fields: readonly Field[];
  /** What stands under any other name. */
  readonly item?: Field;
}

export interface SettingsProblem {
  readonly code: string;
  readonly key: string;
  readonly message: string;
  readonly line: number | null;
  readonly allowed: string | null;
  readonly did_you_mean: string | null;
  readonly env: string | null;
}

export interface SettingsState {
  readonly file: string;
  readonly revision: string;
  readonly unwritable: string | null;
  readonly sections: readonly SettingsSection[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly secrets: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly problems: readonly SettingsProblem[];
  readonly absent: readonly {
    readonly section: string;
    readonly flag: string;
    readonly build: string;
    readonly summary: string;
    readonly profiles: readonly string[];
    readonly planned: boolean;
  }[];
  /** A platform's own name → its section. */
  readonly aliases: Readonly<Record<string, string>>;
}

export interface Preview {
  readonly revision: string;
  readonly diff: readonly DiffLine[];
  readonly problems: readonly SettingsProblem[];
  readonly warnings: readonly string[];
}

export interface Saved {
  /** Of the file as it was written. */
  readonly revision: string;
  readonly version: number | null;
  readonly changed: readonly string[];
  readonly restart: readonly string[];
  readonly warnings: readonly string[];
}

export type Edit = { readonly path: Path; readonly value: unknown } | { readonly path: Path; readonly remove: true };

/** As the service spells a key. */
export function keyOf(path: Path): string {
  let text = "";
  for (const name of path) {
    if (typeof name === "number") text += `[${name}]`;
    else text += (text === "" ? "" : ".") + (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));
  }
  return text;
}

export function valueAt(values: unknown, path: Path): unknown {
  let value = values;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string | number, unknown>)[name];
  }
  return value;
}

export function titleOf({ name, title, path }: SettingsSection): string {
  const key = `section.${name}`;
  return isMessage(key) ? t(key) : title || labelOf(path.at(-1) ?? name);
}
