/** The cookie of a signed-in page. */

const NAME = "svc_session";

/** SameSite: no other site's link, form or script makes the browser send it. HttpOnly: no script of ours can read it. */
const ATTRIBUTES = "HttpOnly; SameSite=Strict; Path=/";

/** As `Set-Cookie` has it. The browser keeps it for `maxAgeMs`; whether it still opens anything is decided here. */
export const sessionCookie = (value: string, isSecure: boolean, maxAgeMs: number): string =>
  `${NAME}=${value}; ${ATTRIBUTES}; Max-Age=${Math.floor(maxAgeMs / 1000)}${isSecure ? "; Secure" : ""}`;

/** As `Set-Cookie` has it. */
export const NO_SESSION_COOKIE = `${NAME}=; ${ATTRIBUTES}; Max-Age=0`;

/**
 * The value of ours in a `Cookie` header. `several`: another host of this domain, or another path, has planted one beside
 * it. Which of them is ours, nobody can tell, and the first is not a better guess than the last.
 */
export function sentCookie(header: string | undefined): string | "several" | undefined {
  if (header === undefined || !header.includes(NAME)) return undefined;
  const ours = header
    .split(";")
    .map((part) => part.trim().split("="))
    .filter(([name]) => name?.trimEnd() === NAME);
  if (ours.length > 1) return "several";
  return ours[0]?.slice(1).join("=") || undefined;
}
