/**
 * What the platform marks in a text. Links that are not to be seen and blocks of code are written out for the model; where
 * the bot is called by its name, the name goes.
 * https://core.telegram.org/bots/api#messageentity
 */
import type { Json } from "@svc/contract";
import { type Fields, fieldsOf, listOf, numberOf, textOf } from "../fields.ts";

export interface Me {
  readonly id: number | undefined;
  readonly username: string | undefined;
}

interface Mark {
  readonly type: string;
  /** Both in UTF-16 units, as strings here are counted too. */
  readonly start: number;
  readonly end: number;
  readonly fields: Fields;
}

export function isMentioned(text: string, entities: Json | undefined, me: Me): boolean {
  return marksIn(text, entities).some((mark) => isMention(text, mark, me));
}

/** As the model reads it. Only at the ends does the name go: in the middle of a sentence it is a part of it. */
export function readableText(text: string, entities: Json | undefined, me: Me): string {
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  const parts: string[] = [];
  let at = 0;
  let isCalled = false;
  for (const mark of marksIn(text, entities).toSorted((a, b) => a.start - b.start)) {
    // One within another, or two that overlap: the first one has been written out.
    if (mark.start < at) continue;
    const isAtEnd = mark.start <= start || mark.end >= end;
    const isCall = isAtEnd && isMention(text, mark, me);
    const instead = isCall ? "" : writtenOut(text, mark);
    if (instead === undefined) continue;
    isCalled ||= isCall;
    parts.push(text.slice(at, mark.start), instead);
    at = mark.end;
  }
  const readable = [...parts, text.slice(at)].join("");
  if (!isCalled) return readable;
  const said = readable.replace(/^\s*[,:;]?\s*/, "").trimEnd();
  // Nothing but the name: it is what was said.
  return said === "" ? text : said;
}

function marksIn(text: string, entities: Json | undefined): Mark[] {
  return listOf(entities).flatMap((entity) => {
    const fields = fieldsOf(entity);
    const [start, length] = [numberOf(fields["offset"]), numberOf(fields["length"])];
    if (start === undefined || length === undefined) return [];
    const isInside = Number.isInteger(start) && Number.isInteger(length) && start >= 0 && length > 0;
    if (!isInside || start + length > text.length) return [];
    return [{ type: String(textOf(fields["type"])), start, end: start + length, fields }];
  });
}

function isMention(text: string, { type, start, end, fields }: Mark, { id, username }: Me): boolean {
  if (type === "text_mention") return id !== undefined && fieldsOf(fields["user"])["id"] === id;
  if (type !== "mention" || username === undefined) return false;
  return text.slice(start, end).toLowerCase() === `@${username.toLowerCase()}`;
}

/** Undefined: as it is. */
function writtenOut(text: string, { type, start, end, fields }: Mark): string | undefined {
  const part = text.slice(start, end);
  if (type === "text_link") {
    const url = textOf(fields["url"]);
    return url === undefined ? undefined : `[${part}](${url})`;
  }
  if (type !== "pre") return undefined;
  const language = /^[\w+#.-]{1,32}$/.exec(textOf(fields["language"]) ?? "")?.[0] ?? "";
  return `\`\`\`${language}\n${part.replace(/\n$/, "")}\n\`\`\``;
}
