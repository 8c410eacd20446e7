/** Numbers of the service as people read them. */
import { number, t } from "../texts/texts.ts";

const UNITS = ["unit.b", "unit.kb", "unit.mb", "unit.gb"] as const;

/** `12.3 MB` */
export function bytes(n: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3));
  const digits = power === 0 ? 0 : 1;
  const size = number(n / 1000 ** power, { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return t(UNITS[power] ?? "unit.b", { n: size });
}

export function dollars(usd: number): string {
  const digits = usd < 1 ? 4 : 2;
  const precision = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return number(usd, { style: "currency", currency: "USD", ...precision });
}
