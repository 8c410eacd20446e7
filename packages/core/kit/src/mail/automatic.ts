/**
 * Automatic mail and mail to many recipients. Answering it makes loops (two programs that answer each other for ever), and
 * confirms to spammers that the address is read. RFC 3834.
 */
import type { Headers } from "./headers.ts";

/** Why it is not answered; undefined: a person may have written it. */
export function automaticBy(headers: Headers, address: string): string | undefined {
  const { get, has } = headers;
  const submitted = get("auto-submitted").split(";")[0]?.trim().toLowerCase() ?? "";
  if (submitted !== "" && submitted !== "no") return "Auto-Submitted";
  if (/^\s*(?:bulk|list|junk|auto_reply)\b/i.test(get("precedence"))) return "Precedence";
  const list = ["list-id", "list-unsubscribe", "list-post"].find(has);
  if (list !== undefined) return list;
  if (has("x-autoreply") || has("x-autorespond")) return "X-Autoreply";
  if (/\b(?:all|autoreply|oof)\b/i.test(get("x-auto-response-suppress"))) return "X-Auto-Response-Suppress";
  if (/^\s*<\s*>\s*$/.test(get("return-path"))) return "Return-Path";
  if (/^\s*multipart\/report\b/i.test(get("content-type"))) return "Content-Type";
  return ROBOTS.test(address) ? "From" : undefined;
}

const ROBOTS =
  /^(?:mailer-daemon|postmaster|(?:do[._-]?not|no)[._-]?reply|bounces?|notifications?|auto[._-]?(?:reply|confirm))(?:[+._-][^@]*)?@/i;
