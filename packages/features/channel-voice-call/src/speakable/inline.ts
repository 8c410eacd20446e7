/** What is said of a line: the text of links, the name of an address, and no marks. */
import type { MarkedToken, Token, Tokens } from "marked";

export const spokenInline = (tokens: readonly Token[]): string =>
  tokens.map((token, at) => (isProduct(tokens, at) ? token.raw : spokenOf(token as MarkedToken))).join("");

/** `2*3*4` is no emphasis to whoever wrote it. */
function isProduct(tokens: readonly Token[], at: number): boolean {
  const { type, raw } = tokens[at]!;
  const [before, after] = [tokens[at - 1]?.raw.at(-1), tokens[at + 1]?.raw[0]];
  return type === "em" && raw.startsWith("*") && /[\w)]/.test(before ?? " ") && /[\w(]/.test(after ?? " ");
}

function spokenOf(token: MarkedToken): string {
  switch (token.type) {
    case "strong":
    case "em":
    case "del":
      return spokenInline(token.tokens);
    case "link":
      return spokenLink(token);
    case "image":
      return token.text;
    case "codespan":
      return token.text;
    case "br":
      return "\n";
    case "checkbox":
      return "";
    case "escape":
      return token.text;
    case "text":
      return token.tokens ? spokenInline(token.tokens) : unescaped(token.text);
    default:
      return token.raw;
  }
}

/** Of an address that is its own text, the host: nobody wants to hear the rest. */
function spokenLink({ tokens, text, href }: Tokens.Link): string {
  const isAddress = URL.canParse(text) && /^https?:/i.test(text);
  if (isAddress) return new URL(text).hostname.replace(/^www\./, "");
  const said = spokenInline(tokens).trim();
  return said === "" ? href.replace(/^mailto:/, "") : said;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&apos;": "'",
  "&nbsp;": " ",
};

const unescaped = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39|apos|nbsp);/g, (name) => ENTITIES[name]!);
