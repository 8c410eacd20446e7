/** Buttons below a message. https://core.telegram.org/bots/api#inlinekeyboardmarkup */
import type { Json } from "@svc/contract";
import { badRequest } from "./answer.ts";
import type { TelegramSent } from "./chats.ts";

type Buttons = Pick<TelegramSent, "buttons" | "callbackData">;

const MAX_DATA_BYTES = 64;

/** Throws what the platform says of buttons that it does not take. Only those that call back are made here. */
export function buttonsOf(markup: Json | undefined): Buttons {
  if (markup === undefined) return { buttons: [], callbackData: [] };
  const { inline_keyboard: rows, ...rest } = markup as Record<string, Json>;
  if (!Array.isArray(rows) || Object.keys(rest).length > 0) throw badRequest("can't parse inline keyboard markup");
  const all = (rows as Json[]).flatMap((row) => {
    if (!Array.isArray(row)) throw badRequest("can't parse inline keyboard button row");
    return row as Json[];
  });
  return { buttons: all.map((one) => checked(one).text), callbackData: all.map((one) => checked(one).callback_data) };
}

function checked(button: Json): { readonly text: string; readonly callback_data: string } {
  const { text, callback_data: data, ...rest } = (button ?? {}) as Record<string, Json>;
  if (typeof text !== "string" || text.trim() === "") throw badRequest("inline keyboard button text must be non-empty");
  if (Object.keys(rest).length > 0 || typeof data !== "string") {
    throw badRequest("Text buttons are unallowed in the inline keyboard");
  }
  const bytes = Buffer.byteLength(data);
  if (bytes < 1 || bytes > MAX_DATA_BYTES) throw badRequest("BUTTON_DATA_INVALID");
  return { text, callback_data: data };
}
