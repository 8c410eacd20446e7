/**
 * Blocks that a message may have, of the kinds that a bot like ours uses; all others are refused.
 * https://docs.slack.dev/reference/block-kit/blocks
 */
import type { Json } from "@svc/contract";
import { SlackRefusal } from "./refusal.ts";
import { seenText } from "./mrkdwn.ts";

export interface SeenBlocks {
  readonly text: string;
  readonly buttons: readonly SeenButton[];
}

export interface SeenButton {
  readonly label: string;
  readonly actionId: string;
  readonly blockId: string;
  readonly value: string;
}

const MOST_BLOCKS = 50;
const MOST_ELEMENTS = 25;

/** Throws `invalid_blocks_format`, `invalid_blocks`. */
export function seenBlocks(blocks: Json): SeenBlocks {
  if (!Array.isArray(blocks)) throw new SlackRefusal("invalid_blocks_format");
  if (blocks.length > MOST_BLOCKS) throw invalid("no more than 50 items allowed");
  const seen = blocks.map((block: Json, at) => seenBlock(fieldsOf(block), at));
  const ids = seen.flatMap(({ buttons }) => buttons.map(({ actionId }) => actionId));
  if (new Set(ids).size !== ids.length) throw invalid("`action_id` must be unique");
  return {
    text: seen.flatMap(({ text }) => (text === "" ? [] : [text])).join("\n"),
    buttons: seen.flatMap(({ buttons }) => buttons),
  };
}

function seenBlock(block: Fields, at: number): SeenBlocks {
  const blockId = typeof block["block_id"] === "string" ? block["block_id"] : `b${at}`;
  if (blockId.length > 255) throw invalid("`block_id` is too long");
  if (block["type"] === "section") return { text: textObject(fieldsOf(block["text"]), 3000), buttons: [] };
  if (block["type"] === "actions") {
    const elements = listOf(block["elements"]);
    if (elements.length === 0 || elements.length > MOST_ELEMENTS) throw invalid("1 to 25 elements");
    return { text: "", buttons: elements.map((element) => button(fieldsOf(element), blockId)) };
  }
  if (block["type"] === "rich_text")
    return { text: listOf(block["elements"]).map(richElement).join("\n"), buttons: [] };
  throw invalid("unsupported type");
}

/** https://docs.slack.dev/reference/block-kit/composition-objects/text-object */
function textObject({ type, text }: Fields, most: number): string {
  if (typeof text !== "string" || text.length === 0 || text.length > most)
    throw invalid(`must be 1 to ${most} characters`);
  if (type === "plain_text") return text;
  if (type !== "mrkdwn") throw invalid("no such text");
  return seenText(text);
}

/** https://docs.slack.dev/reference/block-kit/block-elements/button-element */
function button({ type, text, action_id: actionId, value, style }: Fields, blockId: string): SeenButton {
  if (type !== "button" || fieldsOf(text)["type"] !== "plain_text") throw invalid("no such element");
  if (typeof actionId !== "string" || actionId.length === 0 || actionId.length > 255) throw invalid("`action_id`");
  if (typeof value !== "string" || value.length > 2000) throw invalid("`value`");
  if (style !== undefined && style !== "primary" && style !== "danger") throw invalid("`style`");
  return { label: textObject(fieldsOf(text), 75), actionId, blockId, value };
}

/** https://docs.slack.dev/reference/block-kit/blocks/rich-text-block */
function richElement(element: Json): string {
  const { type, elements } = fieldsOf(element);
  if (!["rich_text_section", "rich_text_preformatted", "rich_text_quote"].includes(String(type))) {
    throw invalid("no such rich text");
  }
  return listOf(elements).map(richPart).join("");
}

function richPart(part: Json): string {
  const { type, text, url, style } = fieldsOf(part);
  for (const [name, value] of Object.entries(fieldsOf(style ?? {}))) {
    if (!["bold", "italic", "strike", "code"].includes(name) || typeof value !== "boolean") throw invalid("`style`");
  }
  if (typeof text !== "string" || text === "") throw invalid("`text`");
  if (type === "text") return text;
  if (type !== "link" || typeof url !== "string" || !URL.canParse(url)) throw invalid("no such part");
  return text;
}

const invalid = (message: string): SlackRefusal =>
  new SlackRefusal("invalid_blocks", { response_metadata: { messages: [`[ERROR] ${message}`] } });

type Fields = Readonly<Record<string, Json | undefined>>;

function fieldsOf(value: Json | undefined): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid("not an object");
  return value as Fields;
}

function listOf(value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) throw invalid("not a list");
  return value as readonly Json[];
}
