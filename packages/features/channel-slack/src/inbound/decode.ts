/**
 * What somebody wrote, as they saw it: mentions and links without the platform's markup.
 * https://docs.slack.dev/messaging/formatting-message-text#retrieving-messages
 */
import { unescaped } from "../markdown/escape.ts";

/** `nameOf`: what a person is called, as far as it is known. */
export const decoded = (text: string, nameOf: (user: string) => string | undefined): string =>
  text
    .split(/(<[^<>]*>)/)
    .map((part, at) => (at % 2 === 1 ? tokenText(part.slice(1, -1), nameOf) : unescaped(part)))
    .join("");

function tokenText(token: string, nameOf: (user: string) => string | undefined): string {
  const bar = token.indexOf("|");
  const target = bar === -1 ? token : token.slice(0, bar);
  const label = bar === -1 ? "" : unescaped(token.slice(bar + 1));
  const rest = target.slice(1);
  if (target.startsWith("@")) return `@${nameOf(rest) ?? (label.replace(/^@/, "") || rest)}`;
  if (target.startsWith("#")) return `#${label.replace(/^#/, "") || rest}`;
  if (target.startsWith("!")) return label || `@${rest}`;
  return linkText(unescaped(target), label);
}

/** A link that is shown as itself is told once. */
function linkText(url: string, label: string): string {
  const short = url.replace(/^(?:https?:\/\/|mailto:|tel:)/, "");
  const isItself = label === "" || [url, short, short.replace(/\/$/, "")].includes(label);
  if (!isItself) return `${label} (${url})`;
  return /^(?:mailto|tel):/.test(url) ? short : url;
}

/** Without a mention of `bot` at the beginning, which only says who is meant. */
export function withoutMention(text: string, bot: string | undefined): string {
  if (bot === undefined) return text;
  const mention = new RegExp(`^\\s*<@${bot}(?:\\|[^<>]*)?>[\\s,:]*`);
  const rest = text.replace(mention, "");
  return rest.trim() === "" ? text : rest;
}

export const mentions = (text: string, bot: string | undefined): boolean =>
  bot !== undefined && new RegExp(`<@${bot}[|>]`).test(text);
