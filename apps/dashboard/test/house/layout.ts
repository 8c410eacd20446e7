/** What is wrong with how a view is laid out: it scrolls sideways, or cuts a text off. */
import type { Page } from "playwright-core";

export const layoutTroubles = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(${troublesOfLayout.toString()})()`);

/** Runs in the page. */
function troublesOfLayout(): string[] {
  const troubles: string[] = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > window.innerWidth) troubles.push(`scrolls sideways: ${scrollWidth}`);
  /** What others wrote, of any length, in a row of one line: it ends with an ellipsis, and its whole text is a click away. */
  const SHORTENED = ".chat-title, .chat-preview, .clip, .chip-name, .at-chats .heading h1";
  /** For screen readers alone. */
  const UNSEEN = ".unseen, .off-screen";
  for (const element of document.body.querySelectorAll<HTMLElement>("*")) {
    const hasText = [...element.childNodes].some(
      (node) => node.nodeType === 3 && (node.textContent ?? "").trim() !== "",
    );
    if (!hasText || element.matches(SHORTENED) || element.closest(UNSEEN) !== null || !element.checkVisibility())
      continue;
    const style = getComputedStyle(element);
    // An inline box is as wide as its text.
    if (style.display === "inline" || style.clipPath !== "none") continue;
    const scrolls = (overflow: string): boolean => overflow === "auto" || overflow === "scroll";
    const isWide = element.scrollWidth > element.clientWidth + 1 && !scrolls(style.overflowX);
    const isHigh =
      element.scrollHeight > element.clientHeight + 1 &&
      ["hidden", "clip"].includes(style.overflowY) &&
      element.tagName !== "TEXTAREA";
    if (!isWide && !isHigh) continue;
    const size = isWide
      ? `${element.scrollWidth} > ${element.clientWidth} wide`
      : `${element.scrollHeight} > ${element.clientHeight} high`;
    troubles.push(
      `${element.tagName.toLowerCase()}.${element.className} "${element.textContent?.slice(0, 40)}" is cut off: ${size}`,
    );
  }
  return troubles;
}
