// Words of one language are twice as long as those of another: on the narrowest phone and the widest screen, no view in any language
// scrolls sideways, cuts a text off, or has a serious finding of axe.
import { beforeAll, expect, test } from "vitest";
import { LANGUAGES } from "../src/texts/texts.ts";
import { seriousFindings } from "./fixture/axe.ts";
import { signedIn } from "./fixture/person.ts";
import { hasChromium } from "./fixture/browser.ts";
import { layoutProblems } from "./fixture/layout.ts";
import { sharedScene } from "./fixture/scene.ts";
import { seedActivity } from "./fixture/seed.ts";
import { show, speak } from "./fixture/switch-language.ts";
import { VIEWS } from "./fixture/views.ts";

const scene = sharedScene();
const WIDTHS = [2560, 1440, 1024, 768, 320];
/** The views of a desk are looked at elsewhere, in light and in the dark. */
const WIDTH_OF_AXE = 320;

beforeAll(async () => {
  if (hasChromium()) await seedActivity(scene().fixture);
});

test.each(LANGUAGES)("every view fits every width in %s", async (language) => {
  const { browser, fixture } = scene();
  await using person = await signedIn(browser, fixture, { reducedMotion: "reduce" });
  const { page } = person;
  await speak(page, language);
  const found: string[] = [];
  for (const { view } of VIEWS) {
    await page.setViewportSize({ width: 1440, height: 900 });
    await show(page, view);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
      const violations = await layoutProblems(page);
      const findings = width === WIDTH_OF_AXE ? await seriousFindings(page) : [];
      found.push(...[...violations, ...findings].map((violation) => `${width} ${view}: ${violation}`));
    }
  }
  expect(found).toEqual([]);
  person.expectCalm();
});
