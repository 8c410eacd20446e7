/** A calendar invitation in a line. RFC 5545. */

/** Undefined: there is no event in it. */
export function invitationIn(calendar: string): string | undefined {
  // A line that begins with a blank goes on from the one before.
  const lines = calendar
    .slice(0, MAX_CHARS)
    .replaceAll(/\r?\n[ \t]/g, "")
    .split(/\r?\n/);
  const begin = lines.findIndex((line) => /^BEGIN:VEVENT\s*$/i.test(line));
  if (begin < 0) return undefined;
  const method = propertyIn(lines.slice(0, begin), "METHOD")?.value.toUpperCase();
  const event = lines.slice(begin + 1, endOf(lines, begin));
  const summary = propertyIn(event, "SUMMARY")?.value || "without a title";
  const said = [
    summary,
    whenOf(event),
    propertyIn(event, "LOCATION")?.value,
    prefixed("from ", propertyIn(event, "ORGANIZER")?.value.replace(/^mailto:/i, "")),
  ];
  const what = WHAT[method ?? ""] ?? "invitation";
  return `[${what}: ${said.filter((part) => part !== undefined && part !== "").join(", ")}]`;
}

const MAX_CHARS = 200_000;
const MAX_VALUE_CHARS = 300;
const WHAT: Readonly<Record<string, string>> = {
  CANCEL: "cancelled invitation",
  REPLY: "answer to an invitation",
  COUNTER: "other time proposed for an invitation",
};

const prefixed = (prefix: string, value: string | undefined): string | undefined =>
  value ? prefix + value : undefined;

const endOf = (lines: readonly string[], begin: number): number => {
  const end = lines.findIndex((line, index) => index > begin && /^(?:END:VEVENT|BEGIN:)/i.test(line));
  return end < 0 ? lines.length : end;
};

interface Property {
  readonly value: string;
  readonly zone: string | undefined;
}

function propertyIn(lines: readonly string[], name: string): Property | undefined {
  const pattern = new RegExp(`^${name}((?:;[^:";]*(?:"[^"]*"[^:";]*)*)*):(.*)$`, "i");
  for (const line of lines) {
    const [, parameters, value] = pattern.exec(line.slice(0, 4000)) ?? [];
    if (parameters === undefined || value === undefined) continue;
    const zone = /;TZID="?([^;:"]{1,60})/i.exec(parameters)?.[1];
    return { value: plain(value), zone: zone === undefined ? undefined : plain(zone) };
  }
  return undefined;
}

const plain = (value: string): string =>
  value
    .replaceAll(/\\n/gi, " ")
    .replaceAll(/\\([,;\\])/g, "$1")
    .replaceAll(/[\p{Cc}\p{Cf}[\]]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, MAX_VALUE_CHARS)
    .toWellFormed();

function whenOf(event: readonly string[]): string | undefined {
  const start = propertyIn(event, "DTSTART");
  const from = shown(start?.value);
  if (from === undefined) return undefined;
  const to = shown(propertyIn(event, "DTEND")?.value);
  const zone = start?.value.endsWith("Z") ? " (UTC)" : start?.zone === undefined ? "" : ` (${start.zone})`;
  return `${from}${to === undefined ? "" : ` to ${to}`}${zone}`;
}

/** `20260301T120000Z` as people write it. */
function shown(value: string | undefined): string | undefined {
  const [, year, month, day, hour, minute] =
    /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}Z?)?$/.exec(value ?? "") ?? [];
  if (year === undefined) return undefined;
  return `${year}-${month}-${day}${hour === undefined ? "" : ` ${hour}:${minute}`}`;
}
