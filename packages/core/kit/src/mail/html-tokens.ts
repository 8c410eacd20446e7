/**
 * HTML as a sequence of texts and tags. It visits each character a bounded number of times: parsers that build a tree take
 * minutes for a megabyte of nested tags, and strangers write mail.
 */
export type HtmlToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open" | "close"; readonly name: string; readonly attributes: string };

/** The content of these elements is not text of the page. */
const RAW = new Set([
  "script",
  "style",
  "title",
  "template",
  "noscript",
  "svg",
  "math",
  "object",
  "textarea",
  "select",
]);

export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const open = nextMarkup(html, at);
    if (open > at) yield { kind: "text", text: html.slice(at, open) };
    if (open === html.length) return;
    const end = endOf(html, open);
    // An unclosed tag is text, and so is everything after it.
    if (end === undefined) return yield { kind: "text", text: html.slice(open) };
    at = end;
    const markup = html.slice(open, end - 1);
    const tag = TAG.exec(markup);
    if (tag === null) continue;
    const name = (tag[2] as string).toLowerCase();
    const kind = tag[1] === "/" ? "close" : "open";
    yield { kind, name, attributes: markup.slice(tag[0].length) };
    if (kind === "open" && RAW.has(name)) at = closingOf(html, name, end);
  }
}

const TAG = /^<(\/?)([a-z][a-z0-9:-]*)/i;

/** Where the next tag, comment or declaration begins; the end without one. A lone "<" is text. */
function nextMarkup(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at >= 0; at = html.indexOf("<", at + 1)) {
    if (/[a-z/!?]/i.test(html.charAt(at + 1))) return at;
  }
  return html.length;
}

/** Behind the markup that begins at `open`. */
function endOf(html: string, open: number): number | undefined {
  if (html.startsWith("<!--", open)) {
    const close = html.indexOf("-->", open + 4);
    return close < 0 ? html.length : close + 3;
  }
  let quote = "";
  for (let at = open + 1; at < html.length; at += 1) {
    const character = html.charAt(at);
    if (quote !== "") {
      if (character === quote) quote = "";
    } else if (character === ">") return at + 1;
    // A quote opens a value only: in <it's> it is a letter.
    else if ((character === '"' || character === "'") && html.charAt(at - 1) === "=") quote = character;
  }
  return undefined;
}

/** Where the closing tag of an element begins; the end when it is never closed. */
function closingOf(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}[\\s/>]`, "gi");
  closing.lastIndex = from;
  return closing.exec(html)?.index ?? html.length;
}
