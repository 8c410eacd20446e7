import { describe, expect, test } from "vitest";
import { seriousFindings } from "../fixture/axe.ts";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function commandCases(scene: () => Scene): void {
  describe("commands", () => {
    test("are completed while typed, by keyboard and touch; a text with further words is a message", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      const list = page.getByRole("listbox", { name: "Commands" });
      const usages = (): Promise<string[]> => list.locator("code").allInnerTexts();

      await box.pressSequentially("/");
      await list.waitFor();
      expect(await usages()).toEqual(["/new", "/model", "/model <name>", "/status", "/stop", "/help"]);
      expect(await seriousFindings(page)).toEqual([]);
      await page.keyboard.press("Escape");
      await list.waitFor({ state: "hidden" });

      await box.pressSequentially("st");
      expect(await usages()).toEqual(["/status", "/stop"]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Tab");
      expect(await box.inputValue()).toBe("/stop");
      await list.waitFor({ state: "hidden" });

      await box.fill("/mod");
      await list.getByText("/model <name>").click();
      expect(await box.inputValue()).toBe("/model ");
      expect(await page.locator("textarea:focus").count()).toBe(1);

      await box.fill("/new shoes, please");
      await list.waitFor({ state: "hidden" });
      person.expectCalm();
    });
  });
}
