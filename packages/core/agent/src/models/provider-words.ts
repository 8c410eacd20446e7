/** What a provider says, made fit to be shown to an operator: one short line without keys, and names of its models. */
import type { Clock } from "@svc/contract";
import { withDeadline } from "@svc/kit/async";
import { type ModelContext, providerFetch } from "./agent-models.ts";

const MAX_CHARS = 300;
const DOTS = "••••••";
/** Pieces of the key of this length and more are taken out. */
const LEAST_PIECE = 5;
/** Text that has so much of the key in a row, whatever stands between the characters, is not shown at all. */
const LEAST_TRACE = 8;

/**
 * The text in one line of at most 300 characters, without the configured secrets, pieces of this model's key and whatever
 * looks like a credential. Undefined where nothing is left, or where the key may still be told from it.
 */
export function quotedWithoutSecrets(text: string | undefined, { config, redact }: ModelContext): string | undefined {
  if (text === undefined) return undefined;
  const key = config.api_key?.trim() ?? "";
  const line = text
    .slice(0, 10 * MAX_CHARS)
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    // Invisible characters could split a key, or turn the direction of the page's text.
    .replace(/\p{Cf}+/gu, "")
    .replace(/\s+/g, " ")
    .trim();
  const clean = withoutCredentials(withoutPieces(redact(line), key), config.name);
  if (hasTraceOf(key, clean)) return undefined;
  const short =
    clean.length > MAX_CHARS
      ? `${clean
          .slice(0, MAX_CHARS - 1)
          .toWellFormed()
          .trimEnd()}…`
      : clean;
  return /[\p{L}\p{N}]/u.test(short) ? short : undefined;
}

/** Providers repeat the beginning or the end of a key. */
function withoutPieces(text: string, key: string): string {
  if (key.length < LEAST_PIECE) return key === "" ? text : text.replaceAll(key, DOTS);
  let clean = "";
  for (let at = 0; at < text.length;) {
    const length = longestPiece(text, at, key);
    if (length < LEAST_PIECE) clean += text[at++];
    else {
      clean += DOTS;
      at += length;
    }
  }
  return clean;
}

function longestPiece(text: string, at: number, key: string): number {
  let length = 0;
  while (at + length < text.length && key.includes(text.slice(at, at + length + 1))) length += 1;
  return length;
}

/** Masked keys (`sk-ab***yz`), well-known prefixes, and long mixed words, the model's name excepted. */
function withoutCredentials(text: string, model: string | undefined): string {
  return text
    .split(" ")
    .map((word) => (word.includes("***") ? DOTS : word))
    .join(" ")
    .replace(/\b(?:sk|pk|rk|xox[a-z]|gh[a-z]|glpat|AIza|eyJ)[-_][\w.-]{6,}|\b(?:AIza|eyJ)[\w.-]{6,}/g, DOTS)
    .replace(/[\w+/=~-]{24,}/g, (word) => {
      const isMixed = /\d/.test(word) && /[a-z]/i.test(word);
      return isMixed && (model === undefined || !word.includes(model)) ? DOTS : word;
    });
}

function hasTraceOf(key: string, text: string): boolean {
  const plain = (words: string): string =>
    words
      .normalize("NFKC")
      .replace(/[^\p{L}\p{N}]/gu, "")
      .toLowerCase();
  const [of, within] = [plain(key), plain(unescaped(text))];
  if (of === "") return false;
  const piece = Math.min(LEAST_TRACE, of.length);
  if (piece < 4) return false;
  const backwards = within.split("").toReversed().join("");
  for (let at = 0; at + piece <= of.length; at += 1) {
    const part = of.slice(at, at + piece);
    if (within.includes(part) || backwards.includes(part)) return true;
  }
  return false;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const LIST_LIMIT_MS = 3_000;
const MAX_LIST_BYTES = 1_000_000;
const MAX_NAMES = 8;

/** Models that the provider lists, those most like the configured one first. Never rejects; empty where it lists none in time. */
export async function offeredModels(
  { config, baseUrl, redact }: ModelContext,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (baseUrl === undefined) return [];
  try {
    const names = (await modelNames({ config, baseUrl }, clock, signal)).filter((name) => redact(name) === name);
    return closest(names, config.name ?? "").slice(0, MAX_NAMES);
  } catch {
    return [];
  }
}

/** The status of a provider that lists no models. */
export class NotListed extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`status ${status}`);
    this.status = status;
  }
}

/** All that the provider lists, in its order. Throws NotListed, and what `fetch` throws. */
export async function modelNames(
  { config, baseUrl }: Pick<ModelContext, "config"> & { readonly baseUrl: string },
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const error = (): Error => new Error("the provider did not list its models in time");
  return withDeadline({ clock, timeoutMs: LIST_LIMIT_MS, signal, error }, async (given) => {
    const key = config.api_key?.trim() ?? "";
    const headers: Record<string, string> =
      config.provider === "anthropic"
        ? { "x-api-key": key, "anthropic-version": "2023-06-01" }
        : key === ""
          ? {}
          : { authorization: `Bearer ${key}` };
    const url = `${baseUrl.endsWith("/") ? baseUrl.slice(0, -1) : baseUrl}/models`;
    const response = await providerFetch(url, { headers, signal: given });
    if (!response.ok) {
      await response.body?.cancel();
      throw new NotListed(response.status);
    }
    return namesIn(JSON.parse(await textOf(response)));
  });
}

async function textOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length > MAX_LIST_BYTES) throw new Error("the list of models is too long");
  }
  return text + decoder.decode();
}

/** `{"data":[{"id"}]}`, the same in all three wire formats. Names that no provider gives are left out. */
function namesIn(body: unknown): string[] {
  const data = (body as { data?: unknown } | null)?.data;
  if (!Array.isArray(data)) return [];
  return data
    .map((entry: unknown) => (entry as { id?: unknown } | null)?.id)
    .filter((id): id is string => typeof id === "string" && /^[\w][\w.:/@+-]{0,79}$/.test(id));
}

/** By the pairs of letters that they share: `gpt4o` finds `gpt-4o`. */
function closest(names: readonly string[], wanted: string): string[] {
  const pairs = (name: string): Set<string> => {
    const plain = name.toLowerCase().replace(/[^a-z0-9]/g, "");
    return new Set(Array.from({ length: Math.max(0, plain.length - 1) }, (_, at) => plain.slice(at, at + 2)));
  };
  const of = pairs(wanted);
  const likeness = (name: string): number => {
    const own = pairs(name);
    return own.size + of.size === 0 ? 0 : (2 * own.intersection(of).size) / (own.size + of.size);
  };
  return [...new Set(names)]
    .map((name) => [likeness(name), name] as const)
    .sort((a, b) => b[0] - a[0] || a[1].localeCompare(b[1]))
    .map(([, name]) => name);
}
