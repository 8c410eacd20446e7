/**
 * Label and help of each settings key. The English texts come from the schema, so that each build has those of its features. The
 * other languages are here, by name and by sentence, loaded with the views that need them.
 */
import { Cell } from "../cell.ts";
import { type Language, language } from "./texts.ts";

interface SettingTexts {
  /** `max_parallel_turns` → its label. */
  readonly labels: Readonly<Record<string, string>>;
  /** A sentence of a schema or a feature's summary → its translation. */
  readonly help: Readonly<Record<string, string>>;
}

const NONE: SettingTexts = { labels: {}, help: {} };

const shown = new Cell<{ readonly language: Language; readonly texts: SettingTexts }>({ language: "en", texts: NONE });

/** Loads the texts. If that fails, the forms are English. */
export async function loadSettingTexts(): Promise<void> {
  const wanted = language();
  if (shown.value.language === wanted) return;
  const texts = await textsOf(wanted).catch(() => NONE);
  shown.set({ language: wanted, texts });
}

async function textsOf(wanted: Language): Promise<SettingTexts> {
  switch (wanted) {
    case "de":
      return (await import("./settings/de.ts")).de;
    case "zh-Hans":
      return (await import("./settings/zh-hans.ts")).zhHans;
    default:
      return NONE;
  }
}

/** `max_parallel_turns` → its label, by default `Max parallel turns`. */
export function labelOf(name: string): string {
  const { labels } = shown.value.texts;
  const known = Object.hasOwn(labels, name) ? labels[name] : undefined;
  if (known !== undefined) return known;
  const text = name
    .replaceAll("_", " ")
    .replace(/\b(?:url|api|id|ip|otel|imap|smtp|tls)\b/g, (word) => word.toUpperCase());
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Undefined: the language has no translation of the sentence. */
export function helpOf(sentence: string): string | undefined {
  const { help } = shown.value.texts;
  return Object.hasOwn(help, sentence) ? help[sentence] : undefined;
}
