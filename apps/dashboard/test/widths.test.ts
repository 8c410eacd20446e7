// Words of one language are twice as long as those of another: on the narrowest phone and the widest screen, in each language, no view
// scrolls sideways, cuts a text off, or has a serious finding of axe.
import { beforeAll, expect, test } from "vitest";
import { LANGUAGES } from "../src/texts/language.ts";
import { seriousFindings } from "./house/axe.ts";
import { signedIn } from "./house/person.ts";
import { hasChromium } from "./house/browser.ts";
import { sharedScene } from "./house/scene.ts";
import { seedActivity } from "./house/seed.ts";
import { show, speak } from "./house/speak.ts";
import { VIEWS } from "./house/views.ts";

const scene = sharedScene();
const WIDTHS = [320, 768, 1440, 2560];
/** One that is laid out as on a desk, and one as on a phone. */
const WIDTHS_OF_AXE = new Set([320, 1440]);

beforeAll(async () => {
  if (hasChromium()) await seedActivity(scene().house);
});

test.each(LANGUAGES)("every view fits every width in %s", async (language) => {
  const { browser, house } = scene();
  await using person = await signedIn(browser, house, { reducedMotion: "reduce" });
  const { page } = person;
  await speak(page, language);
  const found: string[] = [];
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    for (const { view } of VIEWS) {
      await show(page, view);
      const troubles = await page.evaluate<string[]>(`(${troublesOfLayout.toString()})()`);
      const findings = WIDTHS_OF_AXE.has(width) ? await seriousFindings(page) : [];
      found.push(...[...troubles, ...findings].map((trouble) => `${width} ${view}: ${trouble}`));
    }
  }
  expect(found).toEqual([]);
  person.expectCalm();
});

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
