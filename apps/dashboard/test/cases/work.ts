import { describe, expect, test } from "vitest";
import { signedIn } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

export function workCases(scene: () => Scene): void {
  describe("work", () => {
    test("a procedure is started by hand, waits for approval in its run, continues with a click, and is audited", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("procedures", "Procedures");
      await page.getByText("old-draft").waitFor();
      await page.getByRole("link", { name: "site-release" }).first().click();
      await page.getByLabel("Payload (JSON, optional)", { exact: true }).fill("{ not json");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await page.getByText("BAD_JSON").waitFor();
      await page.getByLabel("Payload (JSON, optional)", { exact: true }).fill('{"branch":"main"}');
      await page.getByRole("button", { name: "Run", exact: true }).click();

      await page.getByRole("heading", { level: 1, name: /Run #\d+ of site-release/ }).waitFor();
      const waiting = page.locator("[aria-current=step]");
      await waiting.getByRole("button", { name: /^Approve/ }).click();
      await expect.poll(() => page.getByRole("listitem").getByText("completed").count()).toBe(3);
      expect(await page.getByRole("button", { name: "Cancel the run" }).count()).toBe(0);
      await person.go("audit", "Audit log");
      await page.getByText("sop-run-end").first().waitFor();
      person.expectCalm();
    });

    test("an undelivered message is shown and replayed", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      fixture.platform.mood = { refuses: 400 };
      await fixture.write({ text: "are you open today?", name: "Robin" });
      await person.go("inbox?state=dead", "Inbox and dead letters");
      await page.getByRole("link", { name: /^out-/ }).first().click();
      await page.getByRole("heading", { level: 1, name: /Message out-/ }).waitFor();
      fixture.platform.mood = "takes";
      await page.getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => page.getByText("sent", { exact: true }).count()).toBe(1);
      person.expectCalm();
    });

    test("a device is renamed and revoked; the config shows no secret", async () => {
      const { browser, fixture } = scene();
      await fixture.daemon.pair(await fixture.pairingCode("--name", "old tablet"));
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("devices", "Devices");
      await page.getByRole("button", { name: "Rename old tablet" }).click();
      await page.getByRole("dialog").getByLabel("Name").fill("kitchen tablet");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Revoke kitchen tablet" }).click();
      await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
      await expect.poll(() => page.getByText("kitchen tablet").count()).toBe(0);

      await person.go("config", "Config");
      await page.getByRole("row", { name: /access_token/ }).waitFor();
      await page.getByText("Address to listen on.").waitFor();
      expect(await page.locator("main").innerText()).not.toMatch(/access-token-of-the-test|app-secret-of-the-test/);
      person.expectCalm();
    });

    test("events arrive live, are filtered, and are held while the list is paused", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      const tell = (title: string) =>
        fixture.daemon.request("/api/channel-events", {
          method: "POST",
          body: { type: "note", content: { title }, channels: [] },
        });
      await person.go("events", "Live events");
      await tell("one");
      const list = page.getByRole("list", { name: "Events, the newest first" });
      await list.getByText("note · one").waitFor();
      await page.getByRole("button", { name: "Pause" }).click();
      await tell("two");
      await page.getByText("1 newer event").waitFor();
      expect(await list.getByText("note · two").count()).toBe(0);
      await page.getByRole("button", { name: "Go on" }).click();
      await list.getByText("note · two").waitFor();
      await page.getByLabel("Contains").fill("ONE");
      await expect.poll(() => list.getByRole("listitem").count()).toBe(1);
      person.expectCalm();
    });
  });
}
