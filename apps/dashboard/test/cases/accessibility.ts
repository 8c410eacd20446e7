/** Accessibility: keyboard, screen reader, dark colours, phone. */
import { describe, expect, test } from "vitest";
import { seriousFindings } from "../fixture/axe.ts";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";
import { VIEWS } from "../fixture/views.ts";

export function accessibilityCases(scene: () => Scene): void {
  describe("reach", () => {
    test("no view has a serious axe finding, in light and dark", async () => {
      const { browser, fixture } = scene();
      await fixture.ask("axe", "1", "Is this readable?", "It should be.");
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const found: string[] = [];
      for (const colors of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: colors });
        for (const { view, heading } of VIEWS) {
          await person.go(view, heading);
          await page.getByText("Loading…").first().waitFor({ state: "hidden" });
          found.push(...(await seriousFindings(page, colors === "dark")).map((one) => `${colors} ${view}: ${one}`));
        }
      }
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Pairing code").waitFor();
      found.push(...(await seriousFindings(page)));
      expect(found).toEqual([]);
    });

    test("a phone shows every view without sideways scrolling; tabs lead to the areas", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { viewport: { width: 360, height: 740 } });
      const { page } = person;
      const wide: string[] = [];
      for (const { view, heading } of VIEWS) {
        await person.go(view, heading);
        await page.getByText("Loading…").first().waitFor({ state: "hidden" });
        const width = await page.evaluate<number>("document.documentElement.scrollWidth");
        if (width > 360) wide.push(`${view}: ${width}`);
      }
      expect(wide).toEqual([]);
      await page.getByRole("navigation", { name: "Areas" }).getByRole("link", { name: "Settings" }).click();
      await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Devices" }).click();
      await page.getByRole("heading", { level: 1, name: "Devices" }).waitFor();
      // What looks and signs out the page stands in one view, not above each.
      expect(await page.getByLabel("Colours").count()).toBe(0);
      await page.getByRole("navigation", { name: "Settings" }).getByRole("link", { name: "Appearance" }).click();
      await page.getByLabel("Colours").waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Pairing code").waitFor();
    });

    test("works by keyboard alone: skip link, navigation, focus of headings and after dialogs", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const focused = (): Promise<string> => page.evaluate("document.activeElement?.textContent?.trim() ?? ''");
      // The link has the same words.
      const focusedHeading = (): Promise<string> =>
        page.evaluate("document.querySelector('h1:focus')?.textContent?.trim() ?? ''");
      await page.goto(`${fixture.url}/#/devices`);
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Devices" }).waitFor();
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("Skip to the content");
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement?.id")).toBe("main");
      expect(new URL(page.url()).hash).not.toBe("#main");

      await page.getByRole("link", { name: "Features" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(focusedHeading).toBe("Features");
      await page.getByRole("link", { name: "Devices" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(focusedHeading).toBe("Devices");
      const revoke = page.getByRole("button", { name: /^Revoke/ }).first();
      await revoke.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await expect.poll(() => page.locator(":focus").getAttribute("aria-label")).toMatch(/^Revoke/);
      person.expectCalm();
    });

    test("the colours can be chosen and are reset by a reload", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { colorScheme: "light" });
      const { page } = person;
      const ground = (): Promise<string> => page.evaluate("getComputedStyle(document.documentElement).backgroundColor");
      await person.go("features", "Features");
      const light = await ground();
      await page.getByLabel("Colours").selectOption("dark");
      expect(await ground()).not.toBe(light);
      await page.reload();
      await page.getByLabel("Colours").waitFor();
      expect(await ground()).toBe(light);
    });
  });
}
