/** What people see of a card (JSON 2.0), and what the platform refuses of it. */
import type { Json } from "@svc/contract";

export interface SeenCard {
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly value: Json }[];
}

const CARD_BYTES = 30_720;
type Fields = Readonly<Record<string, Json>>;

/** Throws for what the platform would not make a card of. */
export function seenCard(content: string): SeenCard {
  if (Buffer.byteLength(content) > CARD_BYTES) throw new Error("the card is larger than 30 kB");
  const card = JSON.parse(content) as Fields;
  only(card, ["schema", "config", "body"]);
  if (card["schema"] !== "2.0") throw new Error("the card is not of schema 2.0");
  only(card["config"] as Fields, ["update_multi"]);
  const { elements } = card["body"] as { elements: readonly Fields[] };
  const texts: string[] = [];
  const buttons: SeenCard["buttons"][number][] = [];
  for (const element of elements) {
    if (element["tag"] === "markdown") {
      only(element, ["tag", "content"]);
      texts.push(seenMarkdown(text(element["content"])));
    } else if (element["tag"] === "div") {
      only(element, ["tag", "text"]);
      texts.push(plainText(element["text"]));
    } else if (element["tag"] === "button") {
      only(element, ["tag", "text", "type", "behaviors"]);
      const [behavior] = element["behaviors"] as readonly Fields[];
      only(behavior!, ["type", "value"]);
      if (behavior!["type"] !== "callback") throw new Error("a button of another kind");
      buttons.push({ label: plainText(element["text"]), value: behavior!["value"]! });
    } else throw new Error(`an element of the type ${String(element["tag"])}`);
  }
  if (texts.join("").trim() === "") throw new Error("a card without words");
  return { text: texts.join("\n"), buttons };
}

function only(fields: Fields, names: readonly string[]): void {
  for (const name of Object.keys(fields)) if (!names.includes(name)) throw new Error(`the key ${name}`);
}

function text(value: Json | undefined): string {
  if (typeof value !== "string") throw new Error("a text that is none");
  if (!value.isWellFormed()) throw new Error("half a character");
  return value;
}

function plainText(value: Json | undefined): string {
  const { tag, content } = value as Fields;
  if (tag !== "plain_text") throw new Error("a text of another kind");
  return text(content);
}

/** Code as it stands; elsewhere the marks go, and entities are read. Throws for a tag, which may call everybody. */
export function seenMarkdown(markdown: string): string {
  const parts = markdown.split(/^((?:    |> )*(`{3,})[^\n]*\n[\s\S]*?\n(?:    |> )*\2$)/m);
  let seen = "";
  for (let at = 0; at < parts.length; at += 3) {
    seen += inWords(parts[at]!);
    const code = parts[at + 1];
    if (code !== undefined) seen += tagless(code.split("\n").slice(1, -1).join("\n"));
  }
  return seen;
}

function inWords(words: string): string {
  return words
    .split(/(`[^`\n]+`)/)
    .map((part, at) => (at % 2 === 1 ? tagless(part.slice(1, -1)) : plain(part)))
    .join("");
}

function plain(words: string): string {
  const bare = tagless(words)
    .replaceAll(/\[([^[\]]*)\]\(([^()\s]*)\)/g, (_, label: string, url: string) =>
      label === url ? url : `${label} (${url})`,
    )
    .replaceAll(/^(?:    |> )*(?:#{1,6} |- (?:[\u2610\u2611] )?)?/gm, "")
    .replaceAll(/\*\*|\*|~~/g, "");
  if (/[`[\]\\<>|$]/.test(bare)) throw new Error("a sign with a meaning");
  return bare.replaceAll(/&(?:#(\d{1,6})|(amp|lt|gt|quot|nbsp));/g, (_, number: string | undefined, name: string) =>
    number === undefined
      ? { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00A0" }[name]!
      : String.fromCodePoint(Number(number)),
  );
}

function tagless(words: string): string {
  if (/<\/?[a-z]/i.test(words)) throw new Error("a tag in the text");
  return words.replaceAll("<\u200B", "<");
}
