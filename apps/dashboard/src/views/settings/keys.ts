/** Keys of the config: their path, spelling, value and title. */
import type { Settings, SettingsEdit, SettingsSection } from "@svc/api";
import { labelOf } from "../../texts/setting-texts.ts";
import { isMessage, t } from "../../texts/texts.ts";

export type Path = SettingsEdit["path"];
export type Json = Settings["values"][string];
/** TOML has no null. */
export type SettingValue = Extract<SettingsEdit, { readonly value: unknown }>["value"];

/** The key as the daemon spells it. */
export function keyOf(path: Path): string {
  let text = "";
  for (const name of path) {
    if (typeof name === "number") text += `[${name}]`;
    else text += (text === "" ? "" : ".") + (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));
  }
  return text;
}

export function valueAt(values: Json | undefined, path: Path): Json | undefined {
  let value = values;
  for (const name of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string | number, Json>>)[name];
  }
  return value;
}

export function titleOf({ name, title, path }: SettingsSection): string {
  const key = `section.${name}`;
  return isMessage(key) ? t(key) : title || labelOf(path.at(-1) ?? name);
}
