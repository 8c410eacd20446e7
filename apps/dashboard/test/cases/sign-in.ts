import { describe, expect, test } from "vitest";
import { meet, signedIn, signIn, signInByToken } from "../house/person.ts";
import type { Scene } from "../house/scene.ts";

export function signInCases(scene: () => Scene): void {
  describe("signing in", () => {
    test("by a code in the page; a reload and a second tab need no other one; signing out ends all of them", async () => {
      const { browser, house } = scene();
      await using person = await meet(browser, house);
      const { page } = person;
      await page.getByLabel("Pairing code").fill("000000");
      await page.getByRole("button", { name: "Pair this browser" }).click();
      await page.getByText("BAD_PAIRING_CODE").waitFor();
      await signIn(person, house, "--name", "desk");

      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      const tab = await person.tab();
      await tab.getByRole("heading", { level: 1, name: "Overview" }).waitFor();

      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByText("You are signed out.").waitFor();
      await tab.getByLabel("Pairing code").waitFor();
      // Signed in by one of them, as somebody else even, the other one is in as well.
      await signInByToken(person, house);
      await tab.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.reload();
      await expect.poll(() => page.getByLabel("Pairing code").count()).toBe(1);
      person.expectCalm();
    });

    test("by a token; it and what it was traded for are in no address and in no storage", async () => {
      const { browser, house } = scene();
      await using person = await meet(browser, house);
      const { page, context } = person;
      await signInByToken(person, house);

      const stored = await page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
      expect(stored).toBe("[{},{}]");
      expect(await page.evaluate<string>("document.cookie")).toBe("");
      expect(await page.evaluate<string>("document.documentElement.outerHTML")).not.toContain(house.token);
      const cookies = await context.cookies();
      expect(cookies).toMatchObject([{ name: "svc_session", httpOnly: true, sameSite: "Strict" }]);
      expect(page.url()).toBe(`${house.url}/`);
      person.expectCalm();
    });

    test("lasts until a reload where there are no service workers", async () => {
      const { browser, house } = scene();
      await using person = await signedIn(browser, house, { serviceWorkers: "block" });
      await person.go("approvals", "Approvals");
      await person.page.reload();
      await expect.poll(() => person.page.getByLabel("Pairing code").count()).toBe(1);
    });

    test("ends at once when the device is revoked", async () => {
      const { browser, house } = scene();
      await using person = await signedIn(browser, house, { name: "lost phone" });
      const { devices } = await house.api<{ devices: { id: string; name: string }[] }>("/api/devices");
      const id = devices.find(({ name }) => name === "lost phone")?.id ?? "";
      await house.daemon.request(`/api/devices/${id}`, { method: "DELETE", token: house.token });
      await expect.poll(() => person.page.getByText("Your sign-in has ended").count()).toBe(1);
    });

    test("as a reader: what a reader may not see is not offered", async () => {
      const { browser, house } = scene();
      await using person = await signedIn(browser, house, { name: "wall display", scope: "read" });
      const { page } = person;
      const views = page.getByRole("navigation", { name: "Views" }).getByRole("link");
      expect(await views.allTextContents()).toEqual([
        expect.stringContaining("Overview"),
        expect.stringContaining("Live events"),
        expect.stringContaining("Sessions"),
        expect.stringContaining("Procedures"),
        expect.stringContaining("Features"),
      ]);
      for (const [view, heading] of [
        ["sessions", "Sessions"],
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
