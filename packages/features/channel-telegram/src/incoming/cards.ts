/** Messages that are neither a text nor a file: a place, a contact, a poll. https://core.telegram.org/bots/api#message */
import type { Json } from "@svc/contract";
import { type Fields, fieldsOf, listOf, numberOf, someFields, textOf } from "../fields.ts";
import { richText } from "./rich-message.ts";

/** Undefined for what says nothing to an agent: messages about the chat itself (who came, who left, what was pinned). */
export function cardText(message: Fields): string | undefined {
  const card = CARDS.find(([field]) => someFields(message[field]) !== undefined);
  return card?.[1](fieldsOf(message[card[0]]));
}

/** A venue has a `location` beside it, too. */
const CARDS: readonly (readonly [field: string, read: (card: Fields) => string | undefined])[] = [
  ["venue", ({ location, title, address }) => placeText(fieldsOf(location), [title, address])],
  ["location", (location) => placeText(location, [])],
  ["contact", contactText],
  ["poll", pollText],
  ["dice", ({ emoji, value }) => `[${textOf(emoji) ?? "dice"}: ${numberOf(value) ?? "?"}]`],
  ["rich_message", richText],
  ["checklist", ({ title, tasks }) => listText("Checklist", textOf(title), tasks)],
  // Their content is not for bots; that there was one is.
  ["story", () => "[story]"],
  ["paid_media", () => "[paid media]"],
  ["game", ({ title }) => `[game: ${textOf(title) ?? ""}]`],
  ["invoice", ({ title }) => `[invoice: ${textOf(title) ?? ""}]`],
];

function placeText({ latitude, longitude }: Fields, words: readonly (Json | undefined)[]): string | undefined {
  const [lat, long] = [numberOf(latitude), numberOf(longitude)];
  if (lat === undefined || long === undefined) return undefined;
  return [`Location: ${lat}, ${long}`, ...words.map(textOf).filter((word) => word !== undefined)].join("\n");
}

function contactText({ first_name: first, last_name: last, phone_number: phone }: Fields): string | undefined {
  const name = [first, last].map(textOf).filter((word) => word !== undefined);
  const words = [name.join(" "), textOf(phone)].filter((word) => word);
  return words.length === 0 ? undefined : `Contact: ${words.join(", ")}`;
}

function pollText({ question, options }: Fields): string | undefined {
  return listText("Poll", textOf(question), options);
}

function listText(what: string, title: string | undefined, items: Json | undefined): string | undefined {
  if (title === undefined) return undefined;
  const lines = listOf(items).flatMap((item) => textOf(fieldsOf(item)["text"]) ?? []);
  return [`${what}: ${title}`, ...lines.map((line) => `- ${line}`)].join("\n");
}
