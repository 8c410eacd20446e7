import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { launchProfile } from "../fixture/browser.ts";
import { atHome, meet, signedIn, signIn, signInByToken } from "../fixture/person.ts";
import type { Scene } from "../fixture/scene.ts";

/** Both storages of a page; the second may have the name of a chat that is not there yet. */
const NOTHING_STORED = /^\[\{\},\{(?:"svc\.new-chat":"page-[\w-]+")?\}\]$/;

export function signInCases(scene: () => Scene): void {
  describe("signing in", () => {
    test("works with a code, lasts over a reload and a second tab, and ends in all tabs", async () => {
      const { browser, fixture } = scene();
      await using person = await meet(browser, fixture);
      const { page } = person;
      await page.getByLabel("Pairing code").fill("000000");
      await page.getByRole("button", { name: "Pair this browser" }).click();
      await page.getByText("BAD_PAIRING_CODE").waitFor();
      await signIn(person, fixture, "--name", "desk");

      await page.reload();
      await atHome(page);
      const tab = await person.tab();
      await atHome(tab);

      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByText("You are signed out.").waitFor();
      await tab.getByLabel("Pairing code").waitFor();
      // A sign-in in one tab, even as another device, signs in the other.
      await signInByToken(person, fixture);
      await atHome(tab);
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.reload();
      await expect.poll(() => page.getByLabel("Pairing code").count()).toBe(1);
      person.expectCalm();
    });

    test("works with a token, which is in no address and no storage", async () => {
      const { browser, fixture } = scene();
      await using person = await meet(browser, fixture);
      const { page, context } = person;
      await signInByToken(person, fixture);

      const stored = await page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
      expect(stored).toMatch(NOTHING_STORED);
      expect(await page.evaluate<string>("document.cookie")).toBe("");
      expect(await page.evaluate<string>("document.documentElement.outerHTML")).not.toContain(fixture.token);
      const cookies = await context.cookies();
      expect(cookies).toMatchObject([{ name: "svc_session", httpOnly: true, sameSite: "Strict" }]);
      expect(page.url()).toBe(`${fixture.url}/`);
      person.expectCalm();
    });

    test("lasts over a restart of the browser and of the daemon", async () => {
      const { fixture } = scene();
      const profile = mkdtempSync(join(tmpdir(), "svc-profile-"));
      try {
        const code = await fixture.pairingCode("--name", "laptop");
        for (const start of ["first", "again", "after a kill"]) {
          if (start === "after a kill") {
            await fixture.kill();
            await fixture.start();
          }
          await using context = await launchProfile(profile);
          const page = context.pages()[0] ?? (await context.newPage());
          await page.goto(start === "first" ? `${fixture.url}/#pair=${code}` : fixture.url);
          await atHome(page);
          // The code is in no address any more, and not in the history either.
          expect(page.url()).not.toContain(code);
          expect(await page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")).toMatch(
            NOTHING_STORED,
          );
        }
      } finally {
        rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
      }
    });

    test("works with a link in an open tab; a used link shows an error, and a signed-in browser does not use one up", async () => {
      const { browser, fixture } = scene();
      await using person = await meet(browser, fixture);
      const { page } = person;
      await page.getByLabel("Pairing code").waitFor();
      const code = await fixture.pairingCode("--name", "linked");
      await page.goto(`${fixture.url}/#pair=${code}`);
      await atHome(page);
      const other = await fixture.pairingCode("--name", "spare");
      await page.goto(`${fixture.url}/#pair=${other}`);
      await page.reload();
      await atHome(page);

      await using second = await meet(browser, fixture);
      await second.page.goto(`${fixture.url}/#pair=${code}`);
      await second.page.getByText("The link did not sign this browser in.").waitFor();
      await second.page.goto(`${fixture.url}/#pair=${other}`);
      await atHome(second.page);
      expect(new URL(second.page.url()).hash).toBe("");
      second.expectCalm();
    });

    test("does not ask for a code while the daemon does not answer", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await page.route("**/api/session", (route) => route.abort());
      await page.reload();
      await page.getByText("The service does not answer. Trying again").waitFor();
      expect(await page.getByLabel("Pairing code").count()).toBe(0);
      await page.unroute("**/api/session");
      await atHome(page);
    });

    test("an operator pairs a phone with a code of the page and ends its sign-in; the phone's tabs follow", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture);
      const { page } = person;
      await person.go("devices", "Devices");
      await page.getByRole("button", { name: "Add a device" }).click();
      const dialog = page.getByRole("dialog", { name: "Add a device" });
      await dialog.getByLabel("Name").fill("pocket");
      await dialog.getByRole("button", { name: "Make a code" }).click();
      const code = (await dialog.locator("output").textContent()) ?? "";
      await dialog.getByText("Other machines can't reach this service yet.").waitFor();
      // Where it can be reached, there is a link for that code.
      const link = `https://svc.example.org/#pair=${code}`;
      await page.route("**/api/pairing-codes", (route) =>
        route.fulfill({ json: { code, expires_at: new Date().toISOString(), link } }),
      );
      await dialog.getByRole("button", { name: "Make another code" }).click();
      await dialog.getByRole("img", { name: "QR code of the link" }).waitFor();
      await person.context.grantPermissions(["clipboard-read", "clipboard-write"]);
      await dialog.getByRole("button", { name: "Copy the link" }).click();
      await dialog.getByRole("button", { name: "Copied" }).waitFor();
      expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(link);
      await dialog.getByRole("button", { name: "Done" }).click();

      await using phone = await meet(browser, fixture, { viewport: { width: 390, height: 800 } });
      await phone.page.goto(`${fixture.url}/#pair=${code}`);
      await atHome(phone.page);
      await page.reload();
      const row = page.getByRole("row", { name: /pocket/ });
      await row.getByRole("button", { name: /^End the sign-in of/ }).click();
      await page.getByRole("dialog").getByRole("button", { name: "End" }).click();
      await phone.page.getByText("Your sign-in has ended").waitFor();
      await row.getByText("not signed in").waitFor();
      person.expectCalm();
      phone.expectCalm();
    });

    test("ends at once when the device is revoked", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { name: "lost phone" });
      const { devices } = await fixture.api<{ devices: { id: string; name: string }[] }>("/api/devices");
      const id = devices.find(({ name }) => name === "lost phone")?.id ?? "";
      await fixture.daemon.request(`/api/devices/${id}`, { method: "DELETE", token: fixture.token });
      await expect.poll(() => person.page.getByText("Your sign-in has ended").count()).toBe(1);
    });

    test("offers a reader only what it may read", async () => {
      const { browser, fixture } = scene();
      await using person = await signedIn(browser, fixture, { name: "wall display", scope: "read" });
      const { page } = person;
      const offers = async (place: string, names: readonly string[]): Promise<void> => {
        const links = page.getByRole("navigation", { name: place }).getByRole("link");
        await expect.poll(async () => (await links.allInnerTexts()).map((text) => text.trim())).toEqual(names);
      };
      await offers("Areas", ["Chats", "Procedures", "Activity", "Settings"]);
      await page.getByRole("link", { name: "Activity" }).click();
      await offers("Activity", ["Overview", "Live events"]);
      await page.getByRole("link", { name: "Settings" }).click();
      await offers("Settings", ["Features", "Appearance", "Shortcuts"]);
      for (const [view, heading] of [
        ["", "Chats"],
        ["procedures", "Procedures"],
        ["features", "Features"],
        ["config", "Not for this device"],
      ] as const) {
        await person.go(view, heading);
      }
      expect(await page.getByRole("alert").count()).toBe(0);
      person.expectCalm();
    });
  });
}
