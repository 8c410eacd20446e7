/** Who wrote a mail, by its From header. */
import { readable } from "./headers.ts";

/** The address between the last angle brackets; without them, the header as it is. */
export function addressOf(from: string): string {
  const text = from.trim();
  const open = text.lastIndexOf("<");
  const close = text.indexOf(">", open);
  return open >= 0 && close > open ? text.slice(open + 1, close).trim() : text;
}

/** The name before the address, where there is one. */
export function nameOf(from: string): string | undefined {
  const open = from.lastIndexOf("<");
  const name = readable(from.slice(0, Math.max(0, open)))
    .replaceAll(/[\p{Cc}"\\]+/gu, " ")
    .trim()
    .slice(0, 100)
    .toWellFormed();
  return name === "" ? undefined : name;
}

/** Lower case, so that one person's mails are one conversation; undefined for what can't be written to. */
export function mailboxOf(address: string): string | undefined {
  const trimmed = address.trim();
  return MAILBOX.test(trimmed) ? trimmed.toLowerCase() : undefined;
}

/** One address and nothing that a header could be continued with. */
const MAILBOX = /^[^\s@,;:<>"()[\]\\\p{Cc}]{1,64}@[^\s@,;:<>"()[\]\\\p{Cc}]{1,255}$/u;
