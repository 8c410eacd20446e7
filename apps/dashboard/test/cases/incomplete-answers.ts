import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

const PHONE = { width: 390, height: 844 };

/** Answers that were stopped, failed or cut by a kill: what is stored, and how they continue. */
export function incompleteAnswerCases(scene: () => Scene): void {
  describe("incomplete answers", () => {
    test("stop and continue; a message meanwhile is queued; a phone continues what a desktop started", async () => {
      const { browser, fixture } = scene();
      await using desktop = await signedIn(browser, fixture, { name: "desktop" });
      const { page } = desktop;
      await desktop.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      const thread = page.getByRole("list", { name: "Messages" });
      await box.fill("tell me only half");
      await box.press("Enter");
      await thread.getByText("This is the").waitFor();
      // Enter while it answers: the message waits behind it.
      await box.fill("a message that waits");
      await box.press("Enter");
      await thread.getByText("queued behind the current answer").waitFor();
      expect(await box.inputValue()).toBe("");

      // The phone comes in the middle, and sees what was said before it came.
      await using phone = await signedIn(browser, fixture, { name: "phone", viewport: PHONE });
      const id = /sessions\/([^?]+)/.exec(page.url())![1]!;
      await phone.page.goto(`${fixture.url}/#/sessions/${id}`);
      const onPhone = phone.page.getByRole("list", { name: "Messages" });
      await onPhone.getByText("This is the").waitFor();
      await onPhone.getByText("a message that waits").waitFor();
      await phone.page.getByRole("button", { name: "Stop" }).click();
      for (const list of [onPhone, thread]) {
        await expect.poll(() => list.getByText("Stopped.").count()).toBe(2);
        await list.getByText("This is the").waitFor();
      }
      // The newest turn alone is gone on with, and it has no answer that could be continued.
      expect(await phone.page.getByRole("button", { name: "Continue" }).count()).toBe(0);
      await phone.page.getByRole("button", { name: "Edit and resend" }).click();
      const edited = phone.page.getByRole("textbox", { name: "Edited message" });
      expect(await edited.inputValue()).toBe("a message that waits");
      await edited.fill("a message from the phone");
      await phone.page.reload();
      expect(await edited.inputValue()).toBe("a message from the phone");
      await phone.page.getByRole("button", { name: "Resend" }).click();
      for (const list of [onPhone, thread]) {
        await list.getByText("You said: a message from the phone").waitFor();
        await list.getByText("Earlier attempt, stopped").waitFor();
      }
      await thread
        .getByRole("listitem")
        .filter({ hasText: "phone" })
        .getByText("a message from the phone", { exact: true })
        .waitFor();

      await box.fill("again only half");
      await box.press("Enter");
      await expect.poll(() => thread.getByText("This is the").count()).toBe(2);
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Continue" }).click();
      await thread.getByText("and the second half.").waitFor();
      await thread.getByText("asked for the rest of the answer").waitFor();
      expect(await thread.getByText("This is the").count()).toBe(2);
      await page.reload();
      await thread.getByText("and the second half.").waitFor();
      desktop.expectCalm();
      phone.expectCalm();
    });

    test("an error shows reason and fix and is retried; a kill loses no text", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const thread = page.getByRole("list", { name: "Messages" });
      const box = page.getByRole("textbox", { name: "Message" });
      fixture.refused.add("fails at first");
      await person.go("chat", "New chat");
      await box.fill("this fails at first <b>bold</b>");
      await box.press("Enter");
      await thread.getByText("Failed.").waitFor();
      await thread.getByText("MODEL_REFUSED").waitFor();
      await thread.getByText("svc secrets set model.api_key").waitFor();
      await thread.getByText("this fails at first <b>bold</b>").waitFor();
      await page.reload();
      fixture.refused.clear();
      await page.getByRole("button", { name: "Retry" }).click();
      await thread.getByText("You said: this fails at first").waitFor();
      await expect.poll(() => page.getByRole("button", { name: "Retry" }).count()).toBe(0);

      await box.fill("begin, and only half");
      await box.press("Enter");
      await thread.getByText("This is the").waitFor();
      const id = /sessions\/([^?]+)/.exec(page.url())![1]!;
      await expect.poll(() => fixture.savedAnswers()).toContain("This is the");
      await fixture.kill();
      await fixture.start();
      await thread.getByText("TURN_INTERRUPTED").waitFor();
      await thread.getByText("This is the").waitFor();
      await thread.getByText("begin, and only half").waitFor();
      await page.getByRole("button", { name: "Continue" }).click();
      await thread.getByText("and the second half.").waitFor();
      const { messages } = await fixture.api<{ messages: readonly { text: string; state: string }[] }>(
        `/api/sessions/${id}/messages`,
      );
      expect(messages.filter(({ text }) => text === "begin, and only half")).toHaveLength(1);
      person.expectCalm();
    });

    test("a failed message of a channel is answered by hand", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      fixture.refused.add("nobody knows");
      await fixture.write({ text: "a question that nobody knows", from: "+15550001111" });
      await expect.poll(() => fixture.platform.sent.some(({ to }) => to.includes("15550001111"))).toBe(true);
      fixture.refused.clear();
      await person.go("", "Chats");
      await page.getByRole("link", { name: "a question that nobody knows" }).click();
      await page.getByRole("list", { name: "Messages" }).getByText("a question that nobody knows").waitFor();
      await page.getByText("Failed.").waitFor();
      expect(await page.getByRole("button", { name: "Retry" }).count()).toBe(0);
      const box = page.getByRole("textbox", { name: "Reply as the agent" });
      await box.fill("I know it.");
      await box.press("Enter");
      await page.getByRole("list", { name: "Messages" }).getByText("I know it.").waitFor();
      await page.getByText("Sent by hand as the agent.").waitFor();
      await expect.poll(() => fixture.platform.sent.at(-1)?.text).toBe("I know it.");
      await person.go("audit", "Audit log");
      await page.getByText("reply_by_hand").first().waitFor();
      person.expectCalm();
    });
  });
}
