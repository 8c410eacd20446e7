/** Paragraphs, lists, tables and code as what is said, one after the other. */
import type { MarkedToken, Token, Tokens } from "marked";
import { spokenInline } from "./inline.ts";

export type SpokenBlock = { readonly kind: "text"; readonly text: string } | { readonly kind: "code" };

export const spokenBlocks = (tokens: readonly Token[]): SpokenBlock[] =>
  tokens
    .flatMap((token) => spokenBlock(token as MarkedToken))
    .filter((block) => block.kind === "code" || block.text !== "");

function spokenBlock(token: MarkedToken): SpokenBlock[] {
  switch (token.type) {
    case "space":
    case "hr":
    case "def":
    case "checkbox":
      return [];
    case "code":
      // Four spaces before a line are no code to whoever wrote them.
      return token.codeBlockStyle === "indented" ? [said(token.text.trim())] : [{ kind: "code" }];
    case "heading":
      return [ended(spokenInline(token.tokens))];
    case "blockquote":
      return spokenBlocks(token.tokens);
    case "list":
      return token.items.flatMap((item, index) => spokenItem(item, numberOf(token, index)));
    case "table":
      return [token.header, ...token.rows].map((row) =>
        ended(
          row
            .map((cell) => spokenInline(cell.tokens).trim())
            .filter((cell) => cell !== "")
            .join(", "),
        ),
      );
    case "html":
      return [said(token.text.trim())];
    default:
      return [said("tokens" in token && token.tokens ? spokenInline(token.tokens).trim() : token.raw.trim())];
  }
}

const numberOf = ({ ordered, start }: Tokens.List, index: number): string =>
  ordered ? `${Number(start === "" ? 1 : start) + index}. ` : "";

/** Each item is a sentence: that is the pause between them. */
function spokenItem({ tokens }: Tokens.ListItem, number: string): SpokenBlock[] {
  const [first, ...others] = spokenBlocks(tokens);
  if (first === undefined) return [];
  if (first.kind === "code") return [first, ...others];
  return [ended(`${number}${first.text}`), ...others];
}

const said = (text: string): SpokenBlock => ({ kind: "text", text });

function ended(text: string): SpokenBlock {
  const whole = text.trim();
  return said(whole === "" || /[.!?…:;,。！？：；，、]["'”’»)\]]*$/.test(whole) ? whole : `${whole}.`);
}
