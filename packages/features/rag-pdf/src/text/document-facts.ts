/** What a PDF says of itself: how many pages, and its information dictionary (ISO 32000-1, 14.3.3). */
import type { DocumentFacts, InfoKey } from "../protocol.ts";
import { MAX_INFO_CHARS } from "../protocol.ts";
import type { Pdf } from "./open-pdf.ts";
import { plain } from "./plain.ts";

const NAMES: Readonly<Record<InfoKey, string>> = {
  title: "Title",
  author: "Author",
  subject: "Subject",
  keywords: "Keywords",
  creator: "Creator",
  producer: "Producer",
  created: "CreationDate",
  modified: "ModDate",
};

export async function documentFacts(pdf: Pdf): Promise<DocumentFacts> {
  // A file whose information can't be read has its text all the same.
  const found = await pdf.getMetadata().catch(() => undefined);
  const info = (found?.info ?? {}) as Readonly<Record<string, unknown>>;
  const told: Partial<Record<InfoKey, string>> = {};
  for (const [key, name] of Object.entries(NAMES) as [InfoKey, string][]) {
    const value = info[name];
    if (typeof value !== "string") continue;
    const isDate = key === "created" || key === "modified";
    const text = isDate
      ? isoDate(value)
      : plain(value.slice(0, MAX_INFO_CHARS * 4))
          .replace(/\s+/g, " ")
          .trim();
    if (text !== undefined && text !== "") told[key] = text.slice(0, MAX_INFO_CHARS).toWellFormed();
  }
  return { pages: pdf.numPages, info: told };
}

// D:YYYYMMDDHHmmSSOHH'mm, of which only the year must be there (ISO 32000-1, 7.9.4).
const DATE = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:(Z)|([+-])(\d\d)'?(\d\d)?)?/;

/** As exact as the file says it, without a zone where it names none; undefined where it is no date. */
export function isoDate(text: string): string | undefined {
  const [, year, month, day, hour, minute = "00", second = "00", utc, sign, zoneHours, zoneMinutes = "00"] =
    DATE.exec(text.trim()) ?? [];
  if (year === undefined) return undefined;
  if (!within(month, 1, 12) || !within(day, 1, 31) || !within(hour, 0, 23)) return undefined;
  if (!within(minute, 0, 59) || !within(second, 0, 59)) return undefined;
  const date = [year, month, day].filter((part) => part !== undefined).join("-");
  if (day === undefined || hour === undefined) return date;
  const zone = utc ?? (sign === undefined ? "" : `${sign}${zoneHours}:${zoneMinutes}`);
  return `${date}T${hour}:${minute}:${second}${zone}`;
}

const within = (digits: string | undefined, least: number, most: number): boolean =>
  digits === undefined || (Number(digits) >= least && Number(digits) <= most);
