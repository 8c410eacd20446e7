/** The list of conversations: search, names, pins, archive and export, on a desktop and on a phone. */
import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousFindings } from "../fixture/axe.ts";
import type { Fixture } from "../fixture/fixture.ts";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

const PHONE = { width: 390, height: 800 };

const row = (page: Page, title: string) =>
  page.getByRole("list", { name: "Conversations" }).getByRole("link", { name: title });

const say = async (fixture: Fixture, session: string, message: string): Promise<void> => {
  const headers = { "X-Session-Id": session };
  const { status } = await fixture.daemon.request("/webhook", { token: fixture.token, headers, body: { message } });
  expect(status).toBe(200);
};

async function pick(page: Page, item: string): Promise<void> {
  await page.getByRole("button", { name: "Conversation menu" }).click();
  await page.getByRole("menuitem", { name: item }).click();
}

export function chatListCases(scene: () => Scene): void {
  describe("chats", () => {
    test("are listed with title, preview and unread count; reading on one device counts on the other", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "list-1", "Where is the lighthouse?");
      await using desk = await signedIn(browser, fixture);
      await using phone = await signedIn(browser, fixture, { viewport: PHONE });
      for (const { page } of [desk, phone]) {
        await row(page, "Where is the lighthouse?").getByText("1 unread").waitFor();
        await row(page, "Where is the lighthouse?").getByText("You said: Where is the lighthouse?").waitFor();
      }
      await row(phone.page, "Where is the lighthouse?").click();
      await phone.page.getByRole("heading", { level: 1, name: "Where is the lighthouse?" }).waitFor();
      await row(desk.page, "Where is the lighthouse?").getByText("1 unread").waitFor({ state: "detached" });
      // On a phone the list is another screen.
      expect(await phone.page.getByRole("list", { name: "Conversations" }).count()).toBe(0);
      await phone.page.getByRole("link", { name: "Back to chats" }).click();
      await row(phone.page, "Where is the lighthouse?").waitFor();
      await say(fixture, "list-1", "And the harbour?");
      await row(desk.page, "Where is the lighthouse?").getByText("1 unread").waitFor();
      desk.expectCalm();
      phone.expectCalm();
    });

    test("are renamed, pinned, archived and brought back", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "sort-1", "the older one");
      await say(fixture, "sort-2", "the newer one");
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await row(page, "the older one").click();
      await pick(page, "Rename");
      const title = page.getByRole("dialog").getByLabel("Title");
      expect(await title.inputValue()).toBe("the older one");
      await title.fill('<img src=x onerror="window.hacked=1"> notes');
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: /notes$/ }).waitFor();
      await row(page, "notes").waitFor();
      expect(await page.evaluate("window.hacked")).toBe(undefined);

      await pick(page, "Pin");
      const list = page.getByRole("list", { name: "Conversations" });
      await list.getByText("Pinned", { exact: true }).waitFor();
      await expect.poll(() => list.getByRole("link").first().innerText()).toContain("notes");
      await pick(page, "Unpin");
      await list.getByText("Pinned", { exact: true }).waitFor({ state: "detached" });

      await pick(page, "Archive");
      await row(page, "notes").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Archive" }).click();
      await row(page, "notes").click();
      await page.getByText("archived", { exact: true }).waitFor();
      await say(fixture, "sort-1", "something new");
      await page.getByText("archived", { exact: true }).waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Back to chats" }).click();
      await row(page, "notes").waitFor();
      person.expectCalm();
    });

    test("are searched, and a result opens its message on whatever page", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "deep", "The password of the Zürich safe is in the blue book");
      for (let n = 0; n < 30; n += 1) await say(fixture, "deep", `filling number ${n}`);
      for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
        await using person = await signedIn(browser, fixture, { viewport });
        const { page } = person;
        // In the message box it would be a letter.
        await page.getByRole("heading", { name: "Chats", exact: true }).focus();
        await page.keyboard.press("/");
        await page.keyboard.type("zurich saf");
        const results = page.getByRole("list", { name: "Results" });
        const found = results.getByRole("link").filter({ hasText: "blue book" }).first();
        await found.waitFor();
        // The results of a shorter text may show first.
        await expect.poll(() => found.locator("mark").allInnerTexts()).toEqual(["Zürich", "safe"]);
        await found.click();
        const message = page.locator(".found-message").first();
        await message.waitFor();
        await expect.poll(() => message.innerText()).toContain("blue book");
        await expect.poll(async () => ((await message.boundingBox())?.y ?? -1) > 0).toBe(true);
        expect((await message.boundingBox())!.y).toBeLessThan(viewport.height);
        person.expectCalm();
      }
    });

    test("accept any text as a search: no syntax, no error", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "plain", "plain words");
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      for (const query of ['"', "OR AND", "NEAR(", "a* OR *", "'; DROP TABLE turns; --"]) {
        await page.getByLabel("Search all messages").fill(query);
        await page.getByText("No message has all of these words").waitFor();
        expect(await page.getByRole("alert").count()).toBe(0);
      }
      await page.keyboard.press("Escape");
      await row(page, "plain words").waitFor();
      person.expectCalm();
    });

    test("are exported as a file", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "save-1", "Keep <b>this</b> & that");
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await row(page, "Keep <b>this</b> & that").click();
      for (const [item, name, words] of [
        ["Export as Markdown", /^keep-b-this-b-that-.*\.md$/, "You said: Keep <b>this</b> & that"],
        ["Export as JSON", /^keep-b-this-b-that-.*\.json$/, '"text":"Keep <b>this</b> & that"'],
      ] as const) {
        const [file] = await Promise.all([page.waitForEvent("download"), pick(page, item)]);
        expect(file.suggestedFilename()).toMatch(name);
        expect(readFileSync(await file.path(), "utf8")).toContain(words);
      }
      person.expectCalm();
    });

    test("render only visible rows of ten thousand, and scroll to the end", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page, context } = person;
      const conversation = (n: number) => ({
        id: `c-${n}`,
        session_id: `c-${n}`,
        device: null,
        channel: null,
        title: `Conversation ${n}`,
        preview: "x",
        unread: 0,
        pinned: n < 2,
        archived: false,
        agent: null,
        model: null,
        turns: 1,
        running: false,
        created_at: "2026-01-01T00:00:00Z",
        updated_at: "2026-01-01T00:00:00Z",
      });
      let asked = 0;
      await context.route("**/api/sessions?*", async (route) => {
        asked += 1;
        const query = new URL(route.request().url()).searchParams;
        const from = Number(query.get("before") ?? 0);
        const to = Math.min(10_000, from + Number(query.get("limit")));
        const sessions = Array.from({ length: to - from }, (_, index) => conversation(from + index));
        await route.fulfill({ json: { sessions, before: to < 10_000 ? String(to) : null } });
      });
      await page.reload();
      const list = page.getByRole("list", { name: "Conversations" });
      await row(page, "Conversation 0").waitFor();
      expect(await list.getByRole("listitem").count()).toBeLessThan(40);
      // The rest is loaded as the list is scrolled.
      expect(asked).toBeLessThan(4);
      await expect
        .poll(
          async () => {
            await page.evaluate("document.querySelector('.chat-scroll').scrollTo(0, 1e9)");
            return row(page, "Conversation 9999").count();
          },
          { timeout: 240_000, interval: 20 },
        )
        .toBe(1);
      expect(await list.getByRole("listitem").count()).toBeLessThan(40);
    });

    test("are reached by palette and keyboard; single-key shortcuts can be switched off", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "keys-1", "The quick brown fox");
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("devices", "Devices");
      await page.keyboard.press("Control+k");
      const palette = page.getByRole("dialog", { name: "Command palette" });
      const field = palette.getByRole("combobox");
      await page.keyboard.type("audit");
      await expect.poll(() => palette.getByRole("option").count()).toBe(1);
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Audit log" }).waitFor();

      await page.keyboard.press("Control+k");
      await page.keyboard.type("brown quick");
      const found = palette.getByRole("option").filter({ hasText: "The quick brown fox" }).first();
      await found.waitFor();
      // The conversation by its title, and what was said in it.
      await expect.poll(() => palette.getByRole("option").count()).toBeGreaterThan(1);
      expect(await seriousFindings(page)).toEqual([]);
      const selected = () => palette.getByRole("option", { selected: true });
      const first = await selected().getAttribute("id");
      expect(await field.getAttribute("aria-activedescendant")).toBe(first);
      await page.keyboard.press("ArrowUp");
      expect(await selected().getAttribute("id")).not.toBe(first);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "The quick brown fox" }).waitFor();

      // In a text field the key types its letter.
      const box = page.getByRole("textbox", { name: "Message" });
      await box.press("c");
      expect(await box.inputValue()).toBe("c");
      await box.fill("");
      await page.getByRole("heading", { level: 1 }).focus();
      await page.keyboard.press("?");
      await page.getByRole("heading", { level: 1, name: "Keyboard shortcuts" }).waitFor();
      await page.getByLabel("Single-key shortcuts").uncheck();
      await page.getByRole("heading", { level: 1 }).focus();
      await page.keyboard.press("c");
      await page.getByLabel("Single-key shortcuts").check();
      await page.getByRole("heading", { level: 1 }).focus();
      await page.keyboard.press("c");
      await page.getByRole("heading", { level: 1, name: "New chat" }).waitFor();
      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "Keyboard shortcuts" }).waitFor();
      person.expectCalm();
    });

    test("have no serious axe finding in menu, dialog, search and archive, in light, dark and on a phone", async () => {
      const { browser, fixture } = scene();
      await say(fixture, "axe-1", "Is this easy to read?");
      const found: string[] = [];
      for (const options of [{}, { colorScheme: "dark" }, { viewport: PHONE }] as const) {
        await using person = await signedIn(browser, fixture, options);
        const { page } = person;
        const look = async (what: string): Promise<void> => {
          found.push(...(await seriousFindings(page)).map((one) => `${JSON.stringify(options)} ${what}: ${one}`));
        };
        await row(page, "Is this easy to read?").waitFor();
        await look("list");
        await page.getByLabel("Search all messages").fill("easy");
        await page.getByRole("list", { name: "Results" }).getByRole("link").first().waitFor();
        await look("search");
        await page.getByLabel("Search all messages").fill("");
        await row(page, "Is this easy to read?").click();
        await page.getByRole("button", { name: "Conversation menu" }).click();
        await look("menu");
        await page.getByRole("menuitem", { name: "Rename" }).click();
        await look("dialog");
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "detached" });
        await page.goto(`${fixture.url}/#/`);
        await page.getByRole("button", { name: "Archive" }).click();
        await page.getByRole("heading", { name: "Archive" }).waitFor();
        await look("archive");
      }
      expect(found).toEqual([]);
    });
  });
}
