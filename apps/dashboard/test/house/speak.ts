/** The page in another language, and its views without knowing what their headings say in it. */
import type { Page } from "playwright-core";
import type { Language } from "../../src/texts/texts.ts";

/** Of a page that is signed in: chosen as the page itself keeps it, and drawn anew. */
export async function speak(page: Page, language: Language): Promise<void> {
  await page.evaluate(`localStorage.setItem("svc.language", ${JSON.stringify(language)})`);
  await page.reload();
  await page.locator(`html[lang=${language}] h1`).first().waitFor();
}

/** Waits until a heading of the new view stands there, and what it shows was read. */
export async function show(page: Page, view: string): Promise<void> {
  const { origin } = new URL(page.url());
  await page.goto(`${origin}/#/nowhere`);
  await page.evaluate("document.querySelectorAll('h1').forEach((heading) => (heading.dataset.old = ''))");
  await page.goto(`${origin}/#/${view}`);
  await page.locator("h1:not([data-old])").first().waitFor();
  await page.locator(".reading").first().waitFor({ state: "detached" });
}
