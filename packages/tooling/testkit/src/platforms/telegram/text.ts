/** A text or a caption as it was sent, and what people see of it. https://core.telegram.org/bots/api#sendmessage */
import type { Json } from "@svc/contract";
import { badRequest } from "./answer.ts";
import { type EntityText, parseTelegramHtml } from "./html.ts";

const MAX_TEXT_UNITS = 4096;
const MAX_CAPTION_UNITS = 1024;

/** Throws what the platform says of one that it does not take. */
export function messageText(text: Json | undefined, parseMode: Json | undefined): EntityText {
  const parsed = formatted(text, parseMode);
  if (parsed.text === "") throw badRequest("message text is empty");
  if (parsed.text.length > MAX_TEXT_UNITS) throw badRequest("message is too long");
  return parsed;
}

export function captionText(caption: Json | undefined, parseMode: Json | undefined): EntityText {
  const parsed = formatted(caption ?? "", parseMode);
  if (parsed.text.length > MAX_CAPTION_UNITS) throw badRequest("message caption is too long");
  return parsed;
}

function formatted(given: Json | undefined, parseMode: Json | undefined): EntityText {
  const source = typeof given === "string" ? given : "";
  if (!source.isWellFormed()) throw badRequest("strings must be encoded in UTF-8");
  if (parseMode === undefined || parseMode === "") return { text: source.trim(), entities: [] };
  if (typeof parseMode !== "string" || parseMode.toLowerCase() !== "html") throw badRequest("unsupported parse_mode");
  const parsed = parseTelegramHtml(source);
  if (typeof parsed === "string") throw badRequest(`can't parse entities: ${parsed}`);
  return parsed;
}
