/** Header fields as the platform tells them. */
import { type HeaderField, type Headers, headersFrom } from "@svc/kit/mail";
import * as v from "valibot";

const holder = v.object({ headers: v.array(v.unknown()) });
const field = v.object({ name: v.string(), value: v.string() });

/** Of a mail or of one of its parts; what is no field is left out. */
export function headersOf(part: unknown): Headers {
  const parsed = v.safeParse(holder, part);
  return headersFrom(parsed.success ? fieldsOf(parsed.output.headers) : []);
}

function* fieldsOf(list: readonly unknown[]): Generator<HeaderField> {
  for (const one of list) {
    const { success, output } = v.safeParse(field, one);
    if (success) yield [output.name, output.value];
  }
}
