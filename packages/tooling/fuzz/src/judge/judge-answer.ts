/** One answer by itself: its status, its headers, its shape, and that it tells nothing it was not asked. */
import { ERRORS, type ErrorCode } from "@svc/contract";
import type { Attack } from "../attack.ts";
import type { Answer } from "../wire/answers.ts";
import { DOCUMENTED, type Rules } from "./rules.ts";

export function judgeAnswer(answer: Answer, attack: Attack, rules: Rules, streaming: boolean): string[] {
  const found: string[] = [];
  const text = `${answer.head}\r\n\r\n${answer.body.toString("utf8")}`;
  if (rules.secrets.some((secret) => text.includes(secret))) found.push("tells a secret");
  if (answer.status === 101) return found;
  found.push(...judgeHeaders(answer));
  if (answer.status < 400 || streaming) return found;
  if (attack.marks.some((mark) => text.toLowerCase().includes(mark))) found.push("an error quotes what it was sent");
  if (attack.head !== true) found.push(...judgeError(answer));
  return found;
}

function judgeHeaders({ status, headers, body }: Answer): string[] {
  const found: string[] = [];
  const one = (name: string): string | undefined => headers.get(name)?.[0];
  for (const [name, values] of headers) {
    if (values.length > 1 && name !== "set-cookie") found.push(`sends ${name} twice`);
  }
  if (one("x-content-type-options") !== "nosniff") found.push(`${status} without X-Content-Type-Options`);
  if (one("cache-control") === undefined) found.push(`${status} without Cache-Control`);
  if (status !== 204 && one("content-type") === undefined && body.length > 0)
    found.push(`${status} without Content-Type`);
  for (const name of ["access-control-allow-origin", "x-powered-by", "server"]) {
    if (headers.has(name)) found.push(`${status} with ${name}`);
  }
  if (status === 405 && one("allow") === undefined) found.push("405 without Allow");
  if (status === 401 && one("www-authenticate") === undefined) found.push("401 without WWW-Authenticate");
  if (status === 429 && !/^[1-9]\d*$/.test(one("retry-after") ?? "")) found.push("429 without Retry-After");
  return found;
}

const FIELDS: ReadonlySet<string> = new Set(["error", "code", "retry_after"]);
/** Who was first, and when. */
const MORE: Readonly<Record<string, ReadonlySet<string>>> = { APPROVAL_RESOLVED: new Set(["by", "at"]) };

function judgeError({ status, headers, body }: Answer): string[] {
  const type = headers.get("content-type")?.[0] ?? "";
  const value = type.startsWith("application/json") ? parsed(body) : undefined;
  if (value === undefined) return [`${status} that is not in our error shape`];
  const { error, code } = value;
  const entry = typeof code === "string" && Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode] : undefined;
  if (typeof error !== "string" || error.trim() === "" || entry === undefined) {
    return [`${status} that is not in our error shape`];
  }
  const found: string[] = [];
  const isKnown = (name: string): boolean => FIELDS.has(name) || MORE[String(code)]?.has(name) === true;
  if (!Object.keys(value).every(isKnown)) found.push(`${status} with a field that no error has`);
  if (status >= 500 && !DOCUMENTED.has(String(code))) found.push(`${status} ${String(code)}`);
  if (entry.status !== status) found.push(`${String(code)} with status ${status} instead of ${entry.status}`);
  const { retry_after: again } = value;
  if (status === 429 && again === undefined) found.push("429 without retry_after");
  // Any other error may say it: what is busy is free again in a moment.
  const told = headers.get("retry-after")?.[0];
  if (again !== undefined && (typeof again !== "number" || String(again) !== told)) {
    found.push("retry_after that is not Retry-After");
  }
  return found;
}

function parsed(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
