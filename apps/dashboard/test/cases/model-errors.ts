import { describe, expect, test } from "vitest";
import { KEY } from "../fixture/model.ts";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function modelErrorCases(scene: () => Scene): void {
  describe("a model that fails", () => {
    test("shows a wrong key with the provider's words, without the key, and a fix", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("answer with the wrong key");
      await box.press("Enter");
      await page.getByText("The model provider refused the API key (401).").waitFor();
      await page.getByText("Incorrect key •••••• <img src=x onerror=alert(1)>").waitFor();
      await page.getByText("svc secrets set model.api_key").waitFor();
      expect(await page.content()).not.toContain(KEY);
      expect(await page.locator("main img").count()).toBe(0);
      await page.getByRole("button", { name: "Retry" }).waitFor();
      await page.reload();
      await page.getByText("Incorrect key •••••• <img src=x onerror=alert(1)>").waitFor();
      person.expectCalm();
    });

    test("shows a rate limit with the seconds until the retry, and Stop ends the wait", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { viewport: { width: 390, height: 844 } });
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("answer while you are busy");
      await box.press("Enter");
      const note = page.getByRole("status").filter({ hasText: "rate limit is reached (429" });
      await note.waitFor();
      expect(await note.innerText()).toMatch(/Trying again in (?:30|2\d) s \(try 2 of 4\)/);
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("Stopped.").waitFor();
      await expect.poll(() => note.count()).toBe(0);

      // A provider that fails is asked again, too; what it says is words.
      await box.fill("answer while you are broken");
      await box.press("Enter");
      const broken = page.getByRole("status").filter({ hasText: "Trying again" });
      await broken.waitFor();
      expect(await broken.innerText()).toMatch(/\(try [23] of 4\)/);
      await page.getByRole("button", { name: "Stop" }).click();
      await expect.poll(() => page.getByText("Stopped.").count()).toBe(2);
      await page.reload();
      await page.getByRole("list", { name: "Messages" }).getByText("answer while you are broken").waitFor();
      expect(await page.locator("main b").count()).toBe(0);
      person.expectCalm();
    });
  });
}
