/** Languages of the page. A browser gets the chosen one, else the first supported one of its own list. */
export const LANGUAGES = ["en", "de", "zh-Hans"] as const;
export type Language = (typeof LANGUAGES)[number];

/** Each name in its own language: the reader may not understand the current one. */
export const OWN_NAMES: Readonly<Record<Language, string>> = { en: "English", de: "Deutsch", "zh-Hans": "简体中文" };

/** Kept per browser: the sign-in page has no device yet. */
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
    // Switched off by the browser's settings: the choice ends with the page.
  }
}

function stored(storage: Pick<Storage, "getItem">): Language | undefined {
  try {
    const kept = storage.getItem(CHOSEN);
    return LANGUAGES.find((language) => language === kept);
  } catch {
    return undefined;
  }
}
