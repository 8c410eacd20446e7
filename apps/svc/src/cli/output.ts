/** What commands write for a person: safe text, columns, colour, times, progress. */
import type { ChannelStatus, FileInfo, UnitReport } from "@svc/api";
import type { CommandProgress } from "@svc/contract";

// Not by `import`: that reads every export of node:util.
const { styleText } = process.getBuiltinModule("node:util");

/** What a model wrote must not drive the terminal it is shown on. */
export function printable(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|[\u2028-\u202e\u2066-\u2069]/gu, "\ufffd");
}

/** Columns as wide as their widest cell, the last one as it comes. */
export function columns(rows: readonly (readonly string[])[]): string {
  return laidOut(rows, (cell) => cell);
}

/** The same, ready to be printed: nothing in a cell drives the terminal, and the column of states is in colour. */
export function stateColumns(rows: readonly (readonly string[])[], stateAt: number, tintState: Tint): string {
  const plain = rows.map((row) => row.map((cell) => printable(cell).replaceAll("\n", " ")));
  return laidOut(plain, (cell, index) => (index === stateAt ? tintState(cell) : cell));
}

type Tint = (cell: string) => string;

function laidOut(rows: readonly (readonly string[])[], tint: (cell: string, index: number) => string): string {
  const widths = rows.reduce<number[]>(
    (widest, row) => row.map((cell, index) => Math.max(widest[index] ?? 0, cell.length)),
    [],
  );
  const line = (row: readonly string[]): string =>
    row.map((cell, index) => tint(index === row.length - 1 ? cell : cell.padEnd(widths[index]!), index)).join("  ");
  return rows.map((row) => line(row).trimEnd()).join("\n");
}

type Style = Parameters<typeof styleText>[0];

/** At a terminal alone. FORCE_COLOR, NO_COLOR and NODE_DISABLE_COLORS count as they do for Node itself; so does whether the output is a terminal. */
export const tint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

const STYLES: readonly (readonly [words: RegExp, style: Style])[] = [
  [/^(?:failed|broken|dead|down|rejected|wrong)\b/, "red"],
  [/^(?:waiting|pending|degraded|reconnecting|expired)\b/, "yellow"],
  [/^(?:running|ok|completed|approved|sent|done|connected)\b/, "green"],
  [/^(?:cancelled|off|disabled|never)\b/, "dim"],
];

/** A state by its first word. */
export function tintState(text: string): string {
  const style = STYLES.find(([words]) => words.test(text.trimStart()))?.[1];
  return style === undefined ? text : tint(style, text);
}

/** Instants as a person reads them: UTC, of the ISO text that the service tells. */
export const minute = (iso: string): string => iso.slice(0, 16).replace("T", " ");
export const second = (iso: string): string => iso.slice(0, 19).replace("T", " ");

const BAR_WIDTH = 24;

/** How far a command's work is: on standard error, so that standard output stays what scripts read. Draws nothing without a terminal. */
export function commandProgress(what: string): CommandProgress {
  if (!process.stderr.isTTY) return { at: () => {}, done: () => {} };
  let shown = "";
  const draw = (text: string): void => {
    if (text === shown) return;
    shown = text;
    process.stderr.write(`\r\x1b[K${text}`);
  };
  draw(what);
  return {
    at: (share) => draw(share === undefined ? what : `${what} ${bar(share)}`),
    done: () => draw(""),
  };
}

function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share));
  const full = Math.round(within * BAR_WIDTH);
  return `[${"=".repeat(full)}${" ".repeat(BAR_WIDTH - full)}] ${String(Math.round(within * 100)).padStart(3)} %`;
}

/** The newer of two past errors of a channel or a feature, in one line. Blank without one, and for the current error, which is shown anyway. */
export function lastErrorText(
  { reason, last_failure: failure }: Pick<UnitReport, "reason" | "last_failure">,
  error: ChannelStatus["last_error"] = null,
): string {
  const past = failure?.reason === reason ? null : failure;
  if (error !== null && error.at > (past?.at ?? "")) return said(error.at, `${error.code} (${error.message})`);
  return past === null ? "" : said(past.at, past.reason);
}

const said = (at: string, what: string): string => `last error ${second(at)}: ${what}`;

/** As a transcript names it: `[IMAGE photo.png, image/png, 12 kB]`. */
export function fileLine({ name, type, size }: Omit<FileInfo, "id">): string {
  const [family = ""] = type.split("/", 1);
  const kind = family === "image" || family === "audio" || family === "video" ? family : "document";
  const length =
    size < 1000 ? `${size} B` : size < 1e6 ? `${Math.round(size / 1e3)} kB` : `${(size / 1e6).toFixed(1)} MB`;
  return `[${kind.toUpperCase()} ${name}, ${type}, ${length}]`;
}
