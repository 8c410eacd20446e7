/**
 * The page's texts: English is in the first file that a browser loads, the others come when they are chosen. A text has placeholders
 * for values and elements, `{name}`; one that counts has a form for each category of the language's plural rules.
 */
import type { ComponentChildren } from "preact";
import { Cell } from "../cell.ts";
import { en, type MessageKey, type Messages, type Plural } from "./en.ts";

/** A name, the same in every language. */
export const PRODUCT = "svc";

type Source = typeof en;

type TextOf<Key extends MessageKey> = Source[Key] extends string
  ? Source[Key]
  : Source[Key] extends { readonly other: infer Other extends string }
    ? Other
    : never;
type Placeholders<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholders<Rest> : never;
type Counted<Key extends MessageKey> = Source[Key] extends string ? never : "n";

type Values<Key extends MessageKey> = { readonly [Name in Placeholders<TextOf<Key>> as Name]: string | number } & {
  readonly [Name in Counted<Key>]: number;
};
type RichValues<Key extends MessageKey> = {
  readonly [Name in Exclude<Placeholders<TextOf<Key>>, Counted<Key>>]: ComponentChildren;
} & { readonly [Name in Counted<Key>]: number };

/** Keys of texts without placeholders: what a table of labels may hold. */
export type PlainKey = {
  [Key in MessageKey]: [Placeholders<TextOf<Key>> | Counted<Key>] extends [never] ? Key : never;
}[MessageKey];

interface Shown {
  readonly language: Language;
  readonly messages: Messages;
  /** Creating a formatter takes longer than using it a hundred times. */
  readonly formats: Map<string, Intl.NumberFormat | Intl.DateTimeFormat | Intl.PluralRules>;
}

/** The language of the whole page. */
export const shown = new Cell<Shown>({ language: "en", messages: en, formats: new Map() });

export const language = (): Language => shown.value.language;

/** Loads the texts and shows them. Rejects if they can't be loaded; the language stays. */
export async function showLanguage(wanted: Language): Promise<void> {
  shown.set({ language: wanted, messages: await messagesOf(wanted), formats: new Map() });
}

async function messagesOf(wanted: Language): Promise<Messages> {
  switch (wanted) {
    case "de":
      return (await import("./de.ts")).de;
    case "zh-Hans":
      return (await import("./zh-hans.ts")).zhHans;
    default:
      return en;
  }
}

/** The text in the chosen language with its values. Numbers are formatted for the language. */
export function t<Key extends MessageKey>(
  key: Key,
  ...[values]: [keyof Values<Key>] extends [never] ? [] : [Values<Key>]
): string {
  const given = (values ?? {}) as Readonly<Record<string, string | number>>;
  return template(key, given["n"]).replaceAll(/\{(\w+)\}/g, (_, name: string) => written(given[name]));
}

/** The same with elements in it. */
export function rich<Key extends MessageKey>(key: Key, values: RichValues<Key>): ComponentChildren {
  const given = values as Readonly<Record<string, ComponentChildren>>;
  // Texts and placeholder names alternate.
  const parts = template(key, given["n"]).split(/\{(\w+)\}/);
  return parts.map((part, index) => (index % 2 === 0 ? part : drawn(given[part])));
}

function template(key: MessageKey, n: unknown): string {
  const message: string | Plural = shown.value.messages[key];
  if (typeof message === "string") return message;
  const category = cached("plural", () => new Intl.PluralRules(language())).select(Number(n));
  return (category === "one" ? message.one : undefined) ?? message.other;
}

function cached<Format extends Intl.NumberFormat | Intl.DateTimeFormat | Intl.PluralRules>(
  name: string,
  make: () => Format,
): Format {
  const { formats } = shown.value;
  const format = (formats.get(name) as Format | undefined) ?? make();
  formats.set(name, format);
  return format;
}

const drawn = (value: ComponentChildren): ComponentChildren => (typeof value === "number" ? number(value) : value);

const written = (value: string | number | undefined): string =>
  typeof value === "number" ? number(value) : (value ?? "");

export const number = (value: number, options: Intl.NumberFormatOptions = {}): string =>
  cached(`number ${JSON.stringify(options)}`, () => new Intl.NumberFormat(language(), options)).format(value);

/** Whether a key that is built from a daemon's value, such as `word.<state>`, has a text. */
export const isMessage = (key: string): key is PlainKey => Object.hasOwn(en, key);

/** The text of a daemon's identifier, such as `waiting_approval`. */
export function wordOf(word: string): string {
  const key = `word.${word}`;
  return isMessage(key) ? t(key) : word.replaceAll(/[_-]/g, " ");
}

/** Dates as the language writes them; English ones begin with the day. */
export const dates = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  cached(`date ${JSON.stringify(options)}`, () => {
    return new Intl.DateTimeFormat(language() === "en" ? "en-GB" : language(), options);
  });

/** Languages of the page. A browser gets the chosen one, else the first supported one of its own list. */
export const LANGUAGES = ["en", "de", "zh-Hans"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each name in its own language: the reader may not understand the current one. */
export const OWN_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch", "zh-Hans": "简体中文" };

/** Stored per browser: the sign-in page has no device yet. */
const CHOSEN = "svc.language";

export function languageOf({ localStorage, navigator }: Pick<Window, "localStorage" | "navigator">): Language {
  const chosen = stored(localStorage);
  return chosen ?? firstOf(navigator.languages);
}

/** @param tags As a browser has them: `de-AT`, `zh-CN`. Traditional Chinese is not simplified Chinese. */
function firstOf(tags: readonly string[]): Language {
  for (const tag of tags) {
    const [main = "", ...rest] = tag.toLowerCase().split("-");
    if (main === "zh") {
      if (!rest.some((part) => ["hant", "tw", "hk", "mo"].includes(part))) return "zh-Hans";
    } else {
      const known = LANGUAGES.find((language) => language === main);
      if (known !== undefined) return known;
    }
  }
  return "en";
}

export function keepLanguage(storage: Pick<Storage, "setItem">, language: Language): void {
  try {
    storage.setItem(CHOSEN, language);
  } catch {
    // Storage is disabled: the choice lasts until the page is closed.
  }
}

function stored(storage: Pick<Storage, "getItem">): Language | undefined {
  try {
    const chosen = storage.getItem(CHOSEN);
    return LANGUAGES.find((language) => language === chosen);
  } catch {
    return undefined;
  }
}
