import { describe, expect, test } from "vitest";
import { signedIn } from "../house/person.ts";
import type { Scene } from "../house/scene.ts";

export function chatCases(scene: () => Scene): void {
  describe("chat", () => {
    test("an answer comes in pieces; a call that must be asked about is asked there, and the turn goes on", async () => {
      const { browser, house } = scene();
      await using person = await signedIn(browser, house);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("which files are there?");
      await box.press("Enter");

      // The turn waits for a yes: what the model said before is there already.
      const thread = page.getByRole("list", { name: "Messages" });
      await thread.getByText("Let me look.").waitFor();
      await thread.getByText("which files are there?").waitFor();
      await page.getByRole("button", { name: /^Approve #/ }).click();

      await thread.getByText("There are three files").waitFor();
      // Its own place now, with the message box still in hand.
      await page.waitForURL(/#\/sessions\//);
      await thread.getByText("There are three files").waitFor();
      expect(await page.locator("textarea:focus").count()).toBe(1);
      expect(await thread.getByText("which files are there?").count()).toBe(1);

      await box.fill("thank you");
      await page.getByRole("button", { name: "Send" }).click();
      await thread.getByText("You said: thank you").waitFor();
      await expect.poll(() => thread.getByText("You said: thank you").count()).toBe(1);
      await page.reload();
      await thread.getByText("You said: thank you").waitFor();
      expect(await thread.getByRole("listitem").count()).toBeGreaterThanOrEqual(4);
      person.expectCalm();
    });

    test("what runs is stopped by a button, and the conversation is deleted by another that asks first", async () => {
      const { browser, house } = scene();
      await using person = await signedIn(browser, house);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("hello");
      await box.press("Enter");
      await page.waitForURL(/#\/sessions\//);
      await box.fill("never answer this");
      await box.press("Enter");
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("TURN_CANCELLED").waitFor();

      const name = await page.getByRole("heading", { level: 1 }).innerText();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("heading", { level: 1, name: "Sessions" }).waitFor();
      await expect.poll(() => page.getByRole("link", { name }).count()).toBe(0);
      person.expectCalm();
    });

    test("another device's conversation is read along, and not written to", async () => {
      const { browser, house } = scene();
      await using person = await signedIn(browser, house, { name: "supervisor" });
      const { page } = person;
      const say = (message: string): Promise<Response> =>
        house.daemon.request("/webhook", {
          token: house.token,
          headers: { "X-Session-Id": "watched" },
          body: { message },
        });
      await say("first");
      await person.go("sessions", "Sessions");
      await page.getByRole("link", { name: "watched" }).click();
      await page.getByText("You said: first").waitFor();
      await say("second");
      await page.getByText("You said: second").waitFor();
      expect(await page.getByText("You said: second").count()).toBe(1);
      expect(await page.getByRole("textbox", { name: "Message" }).count()).toBe(0);
      person.expectCalm();
    });
  });
}
