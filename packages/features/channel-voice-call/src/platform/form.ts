/** Bodies of the platform's webhooks: `application/x-www-form-urlencoded`. */

/** By name; a name that comes twice has several values. */
export type Form = ReadonlyMap<string, readonly string[]>;

/** More fields than any webhook of the platform has. A stranger's megabyte of them would cost a tenth of a second. */
const MOST_FIELDS = 200;

/** Undefined for what is no form of the platform's. */
export function formOf(body: Uint8Array): Form | undefined {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("utf8");
  if (hasMoreThan(MOST_FIELDS, text)) return undefined;
  const form = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) {
    const values = form.get(name);
    if (values) values.push(value);
    else form.set(name, [value]);
  }
  return form;
}

/** Undefined, too, for a blank one. */
export function fieldOf(form: Form, name: string): string | undefined {
  const value = form.get(name)?.[0]?.trim();
  return value === "" ? undefined : value;
}

function hasMoreThan(fields: number, text: string): boolean {
  let found = 0;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) {
    found += 1;
    if (found > fields) return true;
  }
  return false;
}
