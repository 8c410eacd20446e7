/** A PDF, page by page, as lines for anyone who asked. pdf.js never throws anything that ends the process, save for want of memory. */
import { brotliDecompressSync } from "node:zlib";
import { getResolvedPDFJS } from "unpdf";
import {
  type DocumentFacts,
  type InfoKey,
  MAX_INFO_CHARS,
  MAX_PAGE_CHARS,
  type PagesRequest,
  type PdfFailure,
  type PdfLine,
} from "./protocol.ts";
import { layOut, type Piece } from "./lay-out.ts";

export async function* readPdf(bytes: Uint8Array<ArrayBuffer>, { ranges }: PagesRequest): AsyncGenerator<PdfLine> {
  let pdf: Pdf;
  try {
    pdf = await openPdf(bytes);
    yield { document: await documentFacts(pdf) };
  } catch (error) {
    yield { failed: failureOf(error) };
    return;
  }
  for (const [first, last] of ranges) {
    for (let page = first; page <= Math.min(last ?? pdf.numPages, pdf.numPages); page += 1) {
      const line = await pageLine(pdf, page);
      yield line;
      if ("failed" in line) return;
    }
  }
  yield { end: true };
}

async function pageLine(pdf: Pdf, page: number): Promise<PdfLine> {
  try {
    const text = await pageText(pdf, page);
    return text.length > MAX_PAGE_CHARS ? { failed: "too-much" } : { page, text };
  } catch {
    return { page, text: "", damaged: true };
  }
}

/** Error names of pdf.js; any other error while opening means that the file is damaged. */
const failureOf = (error: unknown): PdfFailure =>
  (error as { name?: unknown } | null)?.name === "PasswordException" ? "encrypted" : "invalid";

/** What a PDF says of itself: how many pages, and its information dictionary (ISO 32000-1, 14.3.3). */
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

async function documentFacts(pdf: Pdf): Promise<DocumentFacts> {
  // A file whose information can't be read has its text all the same.
  const found = await pdf.getMetadata().catch(() => undefined);
  const info = (found?.info ?? {}) as Readonly<Record<string, unknown>>;
  const texts: Partial<Record<InfoKey, string>> = {};
  for (const [key, name] of Object.entries(NAMES) as [InfoKey, string][]) {
    const value = info[name];
    if (typeof value !== "string") continue;
    const isDate = key === "created" || key === "modified";
    const text = isDate
      ? isoDate(value)
      : plain(value.slice(0, MAX_INFO_CHARS * 4))
          .replace(/\s+/g, " ")
          .trim();
    if (text !== undefined && text !== "") texts[key] = text.slice(0, MAX_INFO_CHARS).toWellFormed();
  }
  return { pages: pdf.numPages, info: texts };
}

// D:YYYYMMDDHHmmSSOHH'mm; only the year is required (ISO 32000-1, 7.9.4).
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

// The text of one page: what pdf.js finds in it, in the order in which people read.

/** Rejects where the page or its content can't be read. */
async function pageText(pdf: Pdf, number: number): Promise<string> {
  const page = await pdf.getPage(number);
  try {
    const { items } = await page.getTextContent();
    const text = layOut(piecesOf(items.flatMap((item) => ("str" in item ? [item] : []))));
    return [text, (await filledIn(page)).join("\n")].filter((part) => part !== "").join("\n\n");
  } finally {
    page.cleanup();
  }
}

/** An item of pdf.js, as far as it is looked at. */
interface TextItem {
  readonly str: string;
  /** Where its origin is and which way its baseline runs, in units of the page: a, b, c, d, e, f. */
  readonly transform: readonly number[];
  /** Along the baseline, in units of the page. */
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

/** pdf.js tells gaps between words as items of their own, and ends of lines as a mark. */
function piecesOf(items: readonly TextItem[]): Piece[] {
  const upright = mainDirection(items);
  const pieces: Piece[] = [];
  let gapBefore = false;
  for (const { str, transform, width, height, hasEOL } of items) {
    const text = plain(str);
    if (text.trim() === "") {
      gapBefore ||= text !== "" || hasEOL;
      continue;
    }
    const [a = 1, b = 0, , , x = 0, y = 0] = transform;
    const size = height || Math.hypot(a, b) || 1;
    const length = Math.hypot(a, b) || 1;
    pieces.push({ text, gapBefore, ...box({ x, y, width, size }, { x: a / length, y: b / length }, upright) });
    gapBefore = hasEOL;
  }
  return pieces;
}

interface Vector {
  readonly x: number;
  readonly y: number;
}

const QUARTERS: readonly Vector[] = [
  { x: 1, y: 0 },
  { x: 0, y: 1 },
  { x: -1, y: 0 },
  { x: 0, y: -1 },
];

/** Which way most of the text runs: a page that was turned, or written sideways, is read as if it were upright. */
function mainDirection(items: readonly TextItem[]): Vector {
  const characters = [0, 0, 0, 0];
  for (const { str, transform } of items) characters[quarterOf(transform)]! += str.trim().length;
  return QUARTERS[characters.indexOf(Math.max(...characters))]!;
}

const quarterOf = ([a = 1, b = 0]: TextItem["transform"]): number =>
  Math.abs(a) >= Math.abs(b) ? (a >= 0 ? 0 : 2) : b >= 0 ? 1 : 3;

/** The place of a piece on a page that is held so that `upright` runs from left to right; y grows downwards. */
function box(
  { x, y, width, size }: Vector & { readonly width: number; readonly size: number },
  along: Vector,
  upright: Vector,
): Omit<Piece, "text" | "gapBefore"> {
  const across = { x: -along.y, y: along.x };
  const turned = (at: Vector): Vector => ({
    x: at.x * upright.x + at.y * upright.y,
    y: at.x * upright.y - at.y * upright.x,
  });
  const corners = [
    { x, y },
    { x: x + along.x * width, y: y + along.y * width },
    { x: x + across.x * size, y: y + across.y * size },
    { x: x + along.x * width + across.x * size, y: y + along.y * width + across.y * size },
  ].map(turned);
  const [xs, ys] = [corners.map((corner) => corner.x), corners.map((corner) => corner.y)];
  return {
    left: Math.min(...xs),
    right: Math.max(...xs),
    top: Math.min(...ys),
    bottom: Math.max(...ys),
    size,
    isLevel: Math.abs(along.x * upright.x + along.y * upright.y) > 0.99,
  };
}

/** What was filled in to a form: it is on the page, and not in the page's own text. */
type Page = Awaited<ReturnType<Pdf["getPage"]>>;

/** A line a field, with what the form calls it. */
async function filledIn(page: Page): Promise<string[]> {
  // Text whose annotations are broken is text all the same.
  const annotations = (await page.getAnnotations().catch(() => [])) as readonly Readonly<Record<string, unknown>>[];
  return annotations.flatMap(({ subtype, fieldType, fieldValue, fieldName, alternativeText, hidden }) => {
    if (subtype !== "Widget" || hidden === true || (fieldType !== "Tx" && fieldType !== "Ch")) return [];
    const value = textOf(Array.isArray(fieldValue) ? fieldValue.join(", ") : fieldValue);
    return value === "" ? [] : [`${textOf(alternativeText) || textOf(fieldName)}: ${value}`];
  });
}

const textOf = (value: unknown): string => (typeof value === "string" ? plain(value).trim() : "");

/** pdf.js over bytes, with all it would ask the network, the system or a browser for switched off. */
type Pdf = Awaited<ReturnType<Awaited<ReturnType<typeof getResolvedPDFJS>>["getDocument"]>["promise"]>;

/** Rejects with errors of pdf.js, `PasswordException` where an empty password does not open it. */
async function openPdf(data: Uint8Array<ArrayBuffer>): Promise<Pdf> {
  const { getDocument, VerbosityLevel } = await getResolvedPDFJS();
  return getDocument({
    data,
    verbosity: VerbosityLevel.ERRORS,
    BinaryDataFactory,
    cMapUrl: "cmaps/",
    cMapPacked: true,
    useWorkerFetch: false,
    useWasm: false,
    useSystemFonts: true, // "The system has the standard fonts": else their data would be asked for, which only painting needs.
    disableFontFace: true,
    disableAutoFetch: true,
    disableRange: true,
    disableStream: true,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    enableXfa: false,
    maxImageSize: 0,
  }).promise;
}

/** Provides pdf.js with data that is not in the file. */
class BinaryDataFactory {
  readonly #cMaps = new CMaps();

  async fetch({ kind, filename }: { kind: string; filename: string }): Promise<Uint8Array> {
    if (kind !== "cMapUrl") throw new Error("only CMaps are there");
    return this.#cMaps.find(filename);
  }
}

/**
 * The predefined CMaps. Only PDFs that bring none of their own ask for one. cmaps.make.sh says where they come from.
 */
class CMaps {
  #all: Promise<ReadonlyMap<string, Uint8Array>> | undefined;

  /** The character map of a name such as `UniGB-UCS2-H.bcmap`, in the packed form of pdf.js. Rejects for an unknown name. */
  async find(name: string): Promise<Uint8Array> {
    const found = (await (this.#all ??= unpacked())).get(name);
    if (found === undefined) throw new Error("there is no such CMap");
    return found;
  }
}

async function unpacked(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { default: packed } = await import("./cmaps.json", { with: { type: "json" } });
  const bytes = new Uint8Array(brotliDecompressSync(Buffer.from(packed.brotli, "base64")));
  let at = 0;
  return new Map(
    Object.entries<number>(packed.bytes).map(([name, length]) => [name, bytes.slice(at, (at += length))] as const),
  );
}

/**
 * Text without what steers terminals and readers: control characters, and marks that turn the direction of what follows, by
 * which a file can show a person another text than it holds. Line ends and tabs stay.
 */
export const plain = (text: string): string => text.replace(STEERING, "").toWellFormed();

// oxlint-disable-next-line no-control-regex -- these are what it is about
const STEERING = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFE\uFFFF]/g;
