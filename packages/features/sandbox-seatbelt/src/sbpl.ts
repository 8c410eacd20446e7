/**
 * The language of sandbox profiles: a dialect of Scheme. There is no reference by its maker; what is used here is in the
 * profiles of macOS (/System/Library/Sandbox/Profiles), in https://reverse.put.as/wp-content/uploads/2011/09/Apple-Sandbox-Guide-v1.0.pdf
 * and https://chromium.googlesource.com/chromium/src/+/main/sandbox/policy/mac/common.sb. Of the rules that match, the last one holds.
 */
import { SvcError } from "@svc/contract";

/** `(allow file-read* …filters)`: any of the filters, or everything without one. */
export const allow = (operation: string, ...filters: readonly string[]): string => rule("allow", operation, filters);
export const deny = (operation: string, ...filters: readonly string[]): string => rule("deny", operation, filters);

const rule = (action: string, operation: string, filters: readonly string[]): string =>
  `(${[action, operation, ...filters].join(" ")})`;

/** A folder with all that is in it, or a file. By its real path: the kernel knows no other (`/tmp` is `/private/tmp`). */
export const subpath = (path: string): string => `(subpath ${text(path)})`;
/** This path alone. */
export const literal = (path: string): string => `(literal ${text(path)})`;
/** A filter on something that has a name. */
export const named = (filter: string, name: string): string => `(${filter} ${text(name)})`;

/**
 * A string. Within it only the quote and the backslash mean something: https://tinyscheme.sourceforge.net (`readstrexp`).
 * Throws SANDBOX_UNAVAILABLE for a NUL, which would end it.
 */
function text(value: string): string {
  if (value.includes("\0")) throw new SvcError("SANDBOX_UNAVAILABLE", "A path can't contain a NUL character.");
  return `"${value.replace(/["\\]/g, (sign) => `\\${sign}`)}"`;
}
