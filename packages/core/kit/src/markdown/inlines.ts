/** What the library found within a line or a paragraph, as inlines. */
import { decodeHTMLStrict } from "entities";
import type { MarkedToken, Token, Tokens } from "marked";
import type { Inline } from "./tree.ts";

/** `isItem`: white space at the beginning of a line is only there to be below the item's mark. */
export const inlinesOf = (tokens: readonly Token[], isItem = false): Inline[] =>
  joined((tokens as readonly MarkedToken[]).flatMap((token) => inlineOf(token, isItem)));

function inlineOf(token: MarkedToken, isItem: boolean): Inline[] {
  switch (token.type) {
    case "strong":
      return [{ kind: "bold", children: inlinesOf(token.tokens, isItem) }];
    case "em":
      return [{ kind: "italic", children: inlinesOf(token.tokens, isItem) }];
    case "del":
      return [{ kind: "strike", children: inlinesOf(token.tokens, isItem) }];
    case "link":
    case "image":
      return linkOf(token);
    case "codespan":
      return [{ kind: "code", text: token.text }];
    case "br":
      return [{ kind: "break" }];
    case "checkbox":
      return [];
    case "escape":
      return linesOf(token.text, isItem);
    case "text":
      return token.tokens ? inlinesOf(token.tokens, isItem) : linesOf(decodeHTMLStrict(token.text), isItem);
    default:
      return linesOf(token.raw, isItem);
  }
}

const linesOf = (text: string, isItem: boolean): Inline[] =>
  (isItem ? text.replaceAll(/\n[ \t]+/g, "\n") : text)
    .split("\n")
    .flatMap((line, index): Inline[] => [
      ...(index === 0 ? [] : [{ kind: "break" } as const]),
      ...(line === "" ? [] : [{ kind: "text", text: line } as const]),
    ]);

function linkOf(token: Tokens.Link | Tokens.Image): Inline[] {
  const isBare = token.type === "link" && token.autolink === true;
  // In an address that stands in the text, an entity is a part of it.
  const target = isBare ? token.href : decodeHTMLStrict(token.href);
  const url = urlOf(target);
  // `<stdio.h:12>` is no address.
  if (isBare && url === undefined) return linesOf(token.raw, false);
  const form = isBare ? "bare" : token.type === "image" ? "image" : "labelled";
  const children = isBare ? linesOf(token.text, false) : inlinesOf(token.tokens);
  return [{ kind: "link", form, url, target, children }];
}

/** Neighbours that are text are one text. */
function joined(inlines: readonly Inline[]): Inline[] {
  const all: Inline[] = [];
  for (const inline of inlines) {
    const last = all.at(-1);
    if (inline.kind === "text" && last?.kind === "text") {
      all[all.length - 1] = { kind: "text", text: last.text + inline.text };
    } else all.push(inline);
  }
  return all;
}

/** Where links of a text may lead. */
const MAX_CHARS = 2_000;

/** As it can be written anywhere: without white space and angle brackets. Undefined for what leads nowhere, or may not. */
function urlOf(target: string): string | undefined {
  if (target.length > MAX_CHARS || !/^(?:https?:\/\/[^\s/]|mailto:\S|tel:\S)/i.test(target)) return undefined;
  if (!URL.canParse(target)) return undefined;
  return target.replaceAll(/[\s<>\p{Cc}]/gu, encodeURIComponent);
}
