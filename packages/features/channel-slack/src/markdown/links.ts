/** Links of Markdown: which there are, where they end, and which lead anywhere. */

export interface FoundLink {
  readonly url: string;
  /** What it is shown as; undefined: the URL itself. */
  readonly label: string | undefined;
  /** Behind its last character. */
  readonly end: number;
}

/** `[label](url)` and `![label](url)` at `at`; undefined where there is none, or where it is not finished yet. */
export function linkAt(text: string, at: number): FoundLink | undefined {
  const open = text[at] === "!" ? at + 1 : at;
  if (text[open] !== "[" || !text.includes("](", open)) return undefined;
  const close = closingBracket(text, open);
  if (close === undefined || text[close + 1] !== "(") return undefined;
  const target = TARGET.exec(text.slice(close + 2));
  const url = urlOf(target?.[1]?.replace(/^<(.*)>$/s, "$1") ?? "");
  if (target === null || url === undefined) return undefined;
  return { url, label: text.slice(open + 1, close), end: close + 2 + target[0].length };
}

/** A destination with balanced brackets one level deep, a title, and the end. */
const TARGET = /^[^\S\n]*(<[^<>\n]*>|(?:[^\s()<>]|\([^\s()<>]*\))+)(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?[^\S\n]*\)/;

/** `<https://example.org>` and `<somebody@example.org>` at `at`. */
export function autolinkAt(text: string, at: number): FoundLink | undefined {
  const inner = /^<([^\s<>]+)>/.exec(text.slice(at, at + MOST_URL_CHARS + 2));
  if (inner === null) return undefined;
  const [whole, target = ""] = inner;
  const isAddress = /^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(target);
  const url = urlOf(isAddress ? `mailto:${target}` : target);
  return url === undefined ? undefined : { url, label: isAddress ? target : undefined, end: at + whole.length };
}

/** A URL that stands in the text as it is. What follows a sentence's end is not its. */
export function bareUrlAt(text: string, at: number): FoundLink | undefined {
  if (/[\p{L}\p{N}_]/u.test(text[at - 1] ?? " ")) return undefined;
  const [found = ""] = /^https?:\/\/[^\s<>"`|\\]+/i.exec(text.slice(at, at + MOST_URL_CHARS)) ?? [];
  const trimmed = withoutTail(found);
  const url = urlOf(trimmed);
  return url === undefined ? undefined : { url, label: undefined, end: at + trimmed.length };
}

const MOST_URL_CHARS = 2_000;

function withoutTail(url: string): string {
  let end = url;
  for (;;) {
    const shorter = end.replace(/[.,:;!?'*_~]+$/, "");
    const isUnbalanced = shorter.endsWith(")") && countOf(shorter, ")") > countOf(shorter, "(");
    const next = isUnbalanced || /[\]}]$/.test(shorter) ? shorter.slice(0, -1) : shorter;
    if (next === end) return end;
    end = next;
  }
}

const countOf = (text: string, mark: string): number => text.split(mark).length - 1;

/** As it goes out. Undefined for what leads nowhere, or to something that only the platform may be told, a mention say. */
export function urlOf(text: string): string | undefined {
  const unescaped = text.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
  if (unescaped.length > MOST_URL_CHARS || !/^(?:https?:\/\/[^\s/]|mailto:[^\s]|tel:[^\s])/i.test(unescaped)) {
    return undefined;
  }
  if (!URL.canParse(unescaped)) return undefined;
  return unescaped.replaceAll(/[\s<>|"`\p{Cc}]/gu, encodeURIComponent);
}

const MOST_LABEL_CHARS = 1_000;

function closingBracket(text: string, open: number): number | undefined {
  let depth = 0;
  const end = Math.min(text.length, open + MOST_LABEL_CHARS);
  for (let at = open; at < end; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === "[") depth += 1;
    else if (char === "]" && (depth -= 1) === 0) return at;
    else if (char === "\n" && text[at + 1] === "\n") return undefined;
  }
  return undefined;
}
