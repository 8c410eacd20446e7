/**
 * Text with tags as the platform reads it: its own small HTML, in which anything but a known, closed tag is an error.
 * https://core.telegram.org/bots/api#html-style
 */
export interface TextEntity {
  readonly type: string;
  /** Both in UTF-16 units. */
  readonly offset: number;
  readonly length: number;
  readonly url?: string;
  readonly language?: string;
}

export interface EntityText {
  readonly text: string;
  readonly entities: readonly TextEntity[];
}

const TYPES: Readonly<Record<string, string>> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  span: "spoiler",
  "tg-spoiler": "spoiler",
  a: "text_link",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
};

interface OpenTag {
  readonly name: string;
  /** In the text. */
  readonly offset: number;
  readonly attributes: ReadonlyMap<string, string>;
}

interface Reading {
  readonly open: OpenTag[];
  readonly entities: TextEntity[];
  text: string;
}

const START = /^<([^\s>]*)((?:\s+[^\s=>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[\w.-]+))?)*)\s*>/;
const END = /^<\/([^\s>]*)\s*>/;
const ESCAPE = /&(#x[0-9a-f]{1,8}|#[0-9]{1,8}|lt|gt|amp|quot);/i;

/** A string is the description of the error, as behind "can't parse entities: ". */
export function parseTelegramHtml(source: string): EntityText | string {
  const reading: Reading = { open: [], entities: [], text: "" };
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at);
    const escape = rest.startsWith("&") ? new RegExp(`^${ESCAPE.source}`, "i").exec(rest) : null;
    if (rest.startsWith("<")) {
      const read = rest.startsWith("</") ? readEnd(reading, rest) : readStart(reading, rest);
      if (typeof read === "string")
        return read.replace("%", `at byte offset ${Buffer.byteLength(source.slice(0, at))}`);
      at += read;
    } else {
      reading.text += escape ? characterOf(escape[1] as string) : source[at];
      at += escape ? escape[0].length : 1;
    }
  }
  const unclosed = reading.open.pop();
  if (unclosed) return `Can't find end tag corresponding to start tag "${unclosed.name}"`;
  return trimmed(reading);
}

/** How long it is, or what is wrong with it; `%` stands for where. */
function readStart({ open, text }: Reading, rest: string): number | string {
  const tag = START.exec(rest);
  if (!tag) return "Unclosed start tag %";
  const name = (tag[1] as string).toLowerCase();
  if (!Object.hasOwn(TYPES, name)) return `Unsupported start tag "${name}" %`;
  const attributes = attributesOf(tag[2] as string);
  if (name === "span" && attributes.get("class") !== "tg-spoiler") {
    return 'Tag "span" must have class "tg-spoiler" %';
  }
  open.push({ name, offset: text.length, attributes });
  return tag[0].length;
}

function readEnd({ open, entities, text }: Reading, rest: string): number | string {
  const end = END.exec(rest);
  const tag = open.pop();
  if (tag === undefined) return "Unexpected end tag %";
  if (!end) return "Unclosed end tag %";
  const name = (end[1] as string).toLowerCase();
  if (name !== tag.name) return `Unmatched end tag %, expected "</${tag.name}>", found "</${name}>"`;
  const entity = entityOf(tag, text);
  if (entity) entities.push(entity);
  return end[0].length;
}

function characterOf(name: string): string {
  const known: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
  if (!name.startsWith("#")) return known[name.toLowerCase()] as string;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : `&${name};`;
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const pairs = text.matchAll(/([^\s=>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+)))?/g);
  const unescaped = (value: string): string =>
    value.replaceAll(new RegExp(ESCAPE.source, "gi"), (_, name: string) => characterOf(name));
  return new Map(
    Array.from(pairs, ([, name, double, single, bare]) => [
      (name as string).toLowerCase(),
      unescaped(double ?? single ?? bare ?? ""),
    ]),
  );
}

/** Undefined for what formats nothing, and for a link that the platform makes none of: it drops both without a word. */
function entityOf({ name, offset, attributes }: OpenTag, text: string): TextEntity | undefined {
  const length = text.length - offset;
  if (length === 0) return undefined;
  const type = TYPES[name] as string;
  const language = /^language-(.+)$/.exec(attributes.get("class") ?? "")?.[1];
  if (type === "text_link") {
    const url = attributes.get("href") ?? text.slice(offset);
    return isLink(url) ? { type, offset, length, url } : undefined;
  }
  return { type, offset, length, ...(type === "code" && language !== undefined && { language }) };
}

function isLink(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname } = new URL(url);
  return protocol === "tg:" || ((protocol === "http:" || protocol === "https:") && hostname.includes("."));
}

/** White space around a message is never seen. Code that fills a block gives it its language. */
function trimmed({ text, entities }: EntityText): EntityText {
  const start = text.length - text.trimStart().length;
  const trimmed = text.trim();
  const placed = entities.flatMap((entity): TextEntity[] => {
    const from = Math.max(0, entity.offset - start);
    const to = Math.min(trimmed.length, entity.offset + entity.length - start);
    return to > from ? [{ ...entity, offset: from, length: to - from }] : [];
  });
  const inPre = (one: TextEntity): TextEntity | undefined =>
    placed.find(({ type, offset, length }) => type === "pre" && offset === one.offset && length === one.length);
  return {
    text: trimmed,
    entities: placed
      .filter((one) => one.type !== "code" || inPre(one) === undefined)
      .map((one) => {
        if (one.type !== "pre") return one;
        const code = placed.find(
          ({ type, offset, length }) => type === "code" && offset === one.offset && length === one.length,
        );
        return code?.language === undefined ? one : { ...one, language: code.language };
      }),
  };
}
