/** What the platform writes, read without trust: the kit's pieces, and what is its own. */
import { textOf } from "@svc/kit";

export { type Fields, fieldsOf, listOf, textOf } from "@svc/kit";

/** Its ids and names are shorter than those of most. */
export function wordOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text === undefined || text.length > MAX_WORD_CHARS ? undefined : text;
}

const MAX_WORD_CHARS = 200;
