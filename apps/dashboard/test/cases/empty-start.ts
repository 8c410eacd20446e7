import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function emptyStartCases(scene: () => Scene): void {
  describe("a new chat", () => {
    test("suggests first messages, and creates no conversation until one is sent", async () => {
      const { browser, fixture } = scene();
      const names = async (): Promise<string[]> => {
        const { sessions } = await fixture.api<{ sessions: { id: string }[] }>("/api/sessions?limit=200");
        return sessions.map(({ id }) => id);
      };
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const before = await names();
      await person.go("chat", "New chat");
      await page.getByRole("button", { name: "Which files are in my workspace?" }).click();
      const box = page.getByRole("textbox", { name: "Message", exact: true });
      await expect.poll(() => box.inputValue()).toBe("Which files are in my workspace?");
      await page.getByRole("button", { name: "What can you do here?" }).click();
      await expect.poll(() => box.inputValue()).toBe("What can you do here?");
      await page.reload();
      await expect.poll(() => box.inputValue()).toBe("What can you do here?");
      expect(await names()).toEqual(before);
      await box.press("Enter");
      await page.getByRole("main").getByText("You said: What can you do here?").first().waitFor();
      expect(await names()).toHaveLength(before.length + 1);
      person.expectCalm();
    });
  });
}
