/** What a message shows beside its words: embeds, polls, what it forwards, what it answers. */
import { type Fields, fieldsOf, listOf, textOf } from "../api/fields.ts";
import { type Mentioned, readable } from "./mentions.ts";
import { nameOf } from "./people.ts";

/** Of messages without words: links that were unfolded have their text in the message itself. */
export function embedsText(message: Fields): string {
  return listOf(message["embeds"])
    .slice(0, 10)
    .map((embed) => embedText(fieldsOf(embed)))
    .filter((text) => text !== "")
    .join("\n\n");
}

/** https://docs.discord.com/developers/resources/message#embed-object */
function embedText({ author, title, url, description, fields, footer }: Fields): string {
  const pairs = listOf(fields).map(fieldsOf);
  return [
    fieldsOf(author)["name"],
    title,
    url,
    description,
    ...pairs.map(({ name, value }) => [name, value].flatMap((part) => textOf(part) ?? []).join(": ")),
    fieldsOf(footer)["text"],
  ]
    .flatMap((part) => textOf(part)?.trim() ?? [])
    .join("\n");
}

/** https://docs.discord.com/developers/resources/poll#poll-object */
export function pollText(message: Fields): string {
  const { question, answers } = fieldsOf(message["poll"]);
  const asked = textOf(fieldsOf(question)["text"]);
  if (asked === undefined) return "";
  const choices = listOf(answers).flatMap((answer) => textOf(fieldsOf(fieldsOf(answer)["poll_media"])["text"]) ?? []);
  return [`Poll: ${asked}`, ...choices.map((choice) => `- ${choice}`)].join("\n");
}

/** What it forwards, which has no author. https://docs.discord.com/developers/resources/message#message-snapshot-object */
export const forwardedOf = (message: Fields): Fields[] =>
  listOf(message["message_snapshots"])
    .slice(0, 10)
    .map((snapshot) => fieldsOf(fieldsOf(snapshot)["message"]));

const QUOTED_CHARS = 300;

/**
 * The words that it answers, for whoever was not there. Behind its own: those may be a command, or the yes that a question
 * waits for. Of a question of ours, which has buttons, nothing is quoted.
 */
export function quoteOf(message: Fields, mentioned: Mentioned): string {
  const quoted = fieldsOf(message["referenced_message"]);
  if (listOf(quoted["components"]).length > 0) return "";
  const words = readable(textOf(quoted["content"]) ?? "", quoted, mentioned) || embedsText(quoted);
  if (words === "") return "";
  const short = words.length > QUOTED_CHARS ? `${words.slice(0, QUOTED_CHARS).toWellFormed()}…` : words;
  const by = nameOf(fieldsOf(quoted["author"])) ?? "somebody";
  return `(in answer to ${by}: "${short.replaceAll(/\s+/g, " ")}")`;
}
