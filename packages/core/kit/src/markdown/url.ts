/** Where links of a text may lead. */

const MAX_CHARS = 2_000;

/** As it can be written anywhere: without white space and angle brackets. Undefined for what leads nowhere, or may not. */
export function urlOf(target: string): string | undefined {
  if (target.length > MAX_CHARS || !/^(?:https?:\/\/[^\s/]|mailto:\S|tel:\S)/i.test(target)) return undefined;
  if (!URL.canParse(target)) return undefined;
  return target.replaceAll(/[\s<>\p{Cc}]/gu, encodeURIComponent);
}
