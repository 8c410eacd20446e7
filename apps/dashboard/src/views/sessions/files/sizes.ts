import { number, t } from "../../../texts/texts.ts";

const ONE_DIGIT = { minimumFractionDigits: 1, maximumFractionDigits: 1 };

/** `1.5 MB`, as people read the size of a file. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return t("unit.b", { n: bytes });
  const kilo = bytes / 1000;
  if (kilo < 1000) return t("unit.kb", { n: Math.round(kilo) });
  return t("unit.mb", { n: number(kilo / 1000, ONE_DIGIT) });
}
