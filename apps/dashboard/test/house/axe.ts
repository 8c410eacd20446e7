/** What a screen reader's user, and who sees little, would stumble over. */
import axe from "axe-core";
import type { Page } from "playwright-core";

/** @param colorsAlone What else there is was looked at in the light. */
export async function seriousFindings(page: Page, colorsAlone = false): Promise<string[]> {
  await page.evaluate(axe.source);
  // Half way between light and dark nothing has the contrast that it will have.
  await page.evaluate(async () => {
    const ending = document.getAnimations().filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ending.map(({ finished }) => finished));
  });
  const rules = colorsAlone ? JSON.stringify({ runOnly: ["color-contrast"] }) : "";
  const { violations } = await page.evaluate<axe.AxeResults>(`axe.run(${rules})`);
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" | ")}`);
}
