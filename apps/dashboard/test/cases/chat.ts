import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function chatCases(scene: () => Scene): void {
  describe("chat", () => {
    test("an answer streams; a tool call asks for approval in the conversation, and the turn continues", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("which files are there?");
      await box.press("Enter");

      // Its own address now; the message box keeps the focus.
      await page.waitForURL(/#\/sessions\//);
      await expect.poll(() => page.locator("textarea:focus").count()).toBe(1);

      // The turn awaits approval; the text before the call is already there.
      const thread = page.getByRole("list", { name: "Messages" });
      await thread.getByText("Let me look.").waitFor();
      await thread.getByText("which files are there?").waitFor();
      await page.getByRole("button", { name: /^Allow once #/ }).click();

      await thread.getByText("There are three files").waitFor();
      expect(await thread.getByText("which files are there?").count()).toBe(1);

      await box.fill("thank you");
      await page.getByRole("button", { name: "Send", exact: true }).click();
      await thread.getByText("You said: thank you").waitFor();
      await expect.poll(() => thread.getByText("You said: thank you").count()).toBe(1);
      await page.reload();
      await thread.getByText("You said: thank you").waitFor();
      expect(await thread.getByRole("listitem").count()).toBeGreaterThanOrEqual(4);
      person.expectCalm();
    });

    test("a button stops the turn, and another one deletes the conversation after a confirmation", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
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

      const address = new URL(page.url()).hash.replace(/\?.*/, "");
      await page.locator(`a[href="${address}"]`).waitFor();
      await page.getByRole("button", { name: "Conversation menu" }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
      await page.getByRole("heading", { level: 1, name: "New chat" }).waitFor();
      await expect.poll(() => page.locator(`a[href="${address}"]`).count()).toBe(0);
      person.expectCalm();
    });

    test("the view follows the end on send, on open and on growth, unless the reader scrolled up", async () => {
      const { browser, fixture } = scene();
      for (const viewport of [
        { width: 1280, height: 800 },
        { width: 390, height: 800 },
      ]) {
        await using person = await signedIn(browser, fixture, { viewport });
        const { page } = person;
        const toEnd = (): Promise<number> =>
          page.evaluate(
            "(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(document.documentElement)",
          );
        await person.go("chat", "New chat");
        const box = page.getByRole("textbox", { name: "Message" });
        await box.fill("tell me a long story");
        await box.press("Enter");
        await page.waitForURL(/#\/sessions\//);
        await page.getByRole("list", { name: "Messages" }).getByText("Paragraph 60 of the story.").waitFor();
        await expect.poll(toEnd).toBeLessThan(3);
        // What is last is not under the message box.
        const ending = page.getByRole("list", { name: "Messages" }).getByText("Paragraph 60 of the story.");
        const gap = async (): Promise<number> => {
          const [last, composer] = [await ending.boundingBox(), await page.locator(".chat-box").boundingBox()];
          // The answer takes the place of its pieces when the turn is over: for a moment the old one has no box.
          return last && composer ? composer.y - last.y - last.height : NaN;
        };
        await expect.poll(gap).toBeGreaterThanOrEqual(0);

        await page.mouse.move(viewport.width * 0.6, 300);
        await page.mouse.wheel(0, -1500);
        const latest = page.getByRole("button", { name: "Jump to latest" });
        await latest.waitFor();
        const before = await page.evaluate<number>("document.documentElement.scrollTop");
        const id = /sessions\/([^?]+)/.exec(page.url())![1]!;
        const { session_id: name } = await fixture.api<{ session_id: string }>(`/api/sessions/${id}`);
        await fixture.daemon.request("/webhook", {
          token: fixture.token,
          headers: { "X-Session-Id": name },
          body: { message: "tell me a long story again" },
        });
        await expect
          .poll(() => page.getByRole("list", { name: "Messages" }).getByText("Paragraph 60 of the story.").count())
          .toBe(2);
        expect(await page.evaluate<number>("document.documentElement.scrollTop")).toBe(before);
        await latest.click();
        await expect.poll(toEnd).toBeLessThan(3);
        await latest.waitFor({ state: "detached" });

        await page.reload();
        await page.getByRole("list", { name: "Messages" }).getByText("Paragraph 60 of the story.").nth(1).waitFor();
        await expect.poll(toEnd).toBeLessThan(3);
        // The box grows with its text, and stays within the screen.
        const low = (await box.boundingBox())!.height;
        await box.fill(Array.from({ length: 60 }, (_, n) => `line ${n}`).join("\n"));
        await expect.poll(async () => (await box.boundingBox())!.height).toBeGreaterThan(low * 3);
        expect((await page.locator(".chat-box").boundingBox())!.height).toBeLessThan(500);
        person.expectCalm();
      }
    });

    test("a reload during a turn shows its text, its approval request and the sent message, and restores a draft", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const thread = page.getByRole("list", { name: "Messages" });
      const box = page.getByRole("textbox", { name: "Message" });
      await person.go("chat", "New chat");
      await box.fill("half a thought");
      await person.go("devices", "Devices");
      await person.go("chat", "New chat");
      expect(await box.inputValue()).toBe("half a thought");
      await page.reload();
      expect(await box.inputValue()).toBe("half a thought");

      await box.fill("begin and hang");
      await box.press("Enter");
      await thread.getByText("This much is said.").waitFor();
      await page.getByRole("button", { name: /^Allow once #/ }).waitFor();
      await page.reload();
      await thread.getByText("This much is said.").waitFor();
      await thread.getByText("begin and hang").waitFor();
      await page.getByRole("button", { name: /^Allow once #/ }).click();
      await page.waitForURL(/#\/sessions\//);
      await thread.getByText("There are three files").waitFor();
      expect(await thread.getByText("begin and hang").count()).toBe(1);

      // In a conversation that is there already: stopped, by the button in the place of Send.
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
      await box.fill("never answer this, please");
      await box.press("Enter");
      await page.reload();
      await thread.getByText("never answer this, please").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByLabel("Pairing code").waitFor();
      expect(await page.evaluate<string>("JSON.stringify({ ...sessionStorage })")).toBe("{}");
      person.expectCalm();
    });

    test("the first message of a chat can be stopped before its answer", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("chat", "New chat");
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("never answer this one");
      await box.press("Enter");
      await page.getByRole("list", { name: "Messages" }).getByText("answering").waitFor();
      await page.getByRole("button", { name: "Stop" }).click();
      await page.getByText("TURN_CANCELLED").waitFor();
      await page.getByRole("button", { name: "Send", exact: true }).waitFor();
      await expect.poll(() => page.getByText("answering", { exact: true }).count()).toBe(0);
      person.expectCalm();
    });

    test("another device's conversation can be followed and continued", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { name: "supervisor" });
      const { page } = person;
      const say = (message: string): Promise<Response> =>
        fixture.daemon.request("/webhook", {
          token: fixture.token,
          headers: { "X-Session-Id": "watched" },
          body: { message },
        });
      await say("first");
      await person.go("", "Chats");
      await page.getByRole("link", { name: "You said: first" }).click();
      const thread = page.getByRole("list", { name: "Messages" });
      await thread.getByText("You said: first").waitFor();
      await say("second");
      await thread.getByText("You said: second").waitFor();
      expect(await thread.getByText("You said: second").count()).toBe(1);
      const box = page.getByRole("textbox", { name: "Message" });
      await box.fill("third");
      await box.press("Enter");
      await thread.getByText("You said: third").waitFor();
      await thread
        .getByRole("listitem")
        .filter({ hasText: "supervisor" })
        .getByText("third", { exact: true })
        .waitFor();
      person.expectCalm();
    });
  });
}
