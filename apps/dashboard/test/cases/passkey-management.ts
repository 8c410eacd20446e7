/** The list of passkeys: add, rename, remove; explanations for browsers without them; accessibility. */
import { describe, expect, test } from "vitest";
import { seriousFindings } from "../fixture/axe.ts";
import { Authenticator } from "../fixture/authenticator.ts";
import { addPasskey, passkeyButton, passkeysOf, rowOf, signInByPasskey, signOut } from "../fixture/passkey-actions.ts";
import { openPasskeyFixture } from "../fixture/passkey-fixture.ts";
import { meet, signedIn } from "../fixture/person.ts";
import type { BrowserScene } from "../fixture/scene.ts";

export function passkeyManagementCases(scene: () => BrowserScene): void {
  describe("passkeys of a device", () => {
    test("are listed with times, renamed, and removed except the last", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture);
      const { page } = person;
      const first = await Authenticator.plugInto(page);
      await person.go("passkeys", "Passkeys");
      await page.getByText("This device has no passkey.").waitFor();
      await addPasskey(person, "Laptop");
      const { device } = await fixture.get<{ device: { id: string; name: string } }>("/api/session");
      expect(await passkeysOf(fixture)).toMatchObject([
        { name: "Laptop", user_id: device.id, user_name: device.name, last_used_at: null, suspect: false },
      ]);
      await rowOf(page, "Laptop").getByText("never").waitFor();

      // The same authenticator makes no second one; another one does, and without a name it is given one.
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByText("There is a passkey of this device on it already.").waitFor();
      await page.getByRole("button", { name: "Not now" }).click();
      const [credential] = await first.stored();
      await first.forget(credential!);
      await addPasskey(person, "");
      await rowOf(page, "Passkey 1").waitFor();

      await page.getByRole("button", { name: "Rename Passkey 1" }).click();
      await page.getByRole("textbox", { name: "Name" }).fill("Key ring");
      await page.keyboard.press("Enter");
      await rowOf(page, "Key ring").waitFor();
      await signOut(person);
      await signInByPasskey(person);
      await rowOf(page, "Key ring").getByText("just now").nth(1).waitFor();

      await page.getByRole("button", { name: "Remove Laptop" }).click();
      expect(await page.getByLabel("Token of this device").count()).toBe(0);
      await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
      await rowOf(page, "Laptop").waitFor({ state: "detached" });
      expect((await passkeysOf(fixture)).map(({ name }) => name)).toEqual(["Key ring"]);
      person.expectCalm();
    });

    test("removes the last one only with the device's token; a wrong token ends no sign-in", async () => {
      await using fixture = await openPasskeyFixture();
      const other = await fixture.tokenOf("other");
      await using person = await signedIn(scene().browser, fixture);
      const { page } = person;
      await Authenticator.plugInto(page);
      await addPasskey(person, "Laptop");
      await page.getByRole("button", { name: "Remove Laptop" }).click();
      const dialog = page.getByRole("dialog");
      const [passkey] = await passkeysOf(fixture);
      const command = (await dialog.locator(".command").textContent()) ?? "";
      expect(command).toMatch(/^svc passkeys remove (?:-- )?[\w-]{12}$/);
      expect(passkey?.id.startsWith(command.split(" ").at(-1) ?? "")).toBe(true);
      const token = dialog.getByLabel("Token of this device");
      for (const [typed, code] of [
        ["", "PASSKEY_LAST"],
        [`svc_${"0".repeat(64)}`, "UNAUTHORIZED"],
        [other, "PASSKEY_UNKNOWN"],
      ] as const) {
        await token.fill(typed);
        await dialog.getByRole("button", { name: "Remove" }).click();
        await dialog.getByRole("alert").filter({ hasText: code }).waitFor();
        expect(await token.inputValue()).toBe("");
        expect(await passkeysOf(fixture)).toHaveLength(1);
      }
      await token.fill(fixture.token);
      await page.keyboard.press("Enter");
      await page.getByText("This device has no passkey.").waitFor();
      expect(await passkeysOf(fixture)).toEqual([]);
      expect(await page.content()).not.toContain(fixture.token);
      await person.go("devices", "Devices");
      person.expectCalm();
    });

    test("removes the last one by the command that the page shows", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { name: "desk" });
      const { page } = person;
      await Authenticator.plugInto(page);
      await addPasskey(person, "Laptop");
      await page.getByRole("button", { name: "Remove Laptop" }).click();
      const command = (await page.getByRole("dialog").locator(".command").textContent()) ?? "";
      await fixture.run(...command.replace(/^svc passkeys remove/, "passkeys remove --yes").split(" "));
      await page.reload();
      await page.getByText("This device has no passkey.").waitFor();
      await signOut(person);
      await passkeyButton(page).click();
      await expect.poll(() => page.getByRole("alert").count()).toBe(1);
      expect(await page.getByRole("alert").textContent()).toContain("PASSKEY_UNKNOWN");
    });

    test("adds none when the person cancels or is not recognised, and keeps the dialog open", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture);
      const { page } = person;
      await Authenticator.plugInto(page, { isVerified: false });
      await person.go("passkeys", "Passkeys");
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("button", { name: "Go on" }).click();
      await page.locator("dialog button[aria-busy=false]", { hasText: "Go on" }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      expect(await passkeysOf(fixture)).toEqual([]);
      person.expectCalm();
    });

    test("are managed by keyboard alone, with a hostile name, without axe findings", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { reducedMotion: "reduce" });
      const { page } = person;
      await Authenticator.plugInto(page);
      const hostile = `<img src=x onerror="window.hacked=1">`;
      await person.go("passkeys", "Passkeys");
      const found: string[] = [];
      const look = async (where: string): Promise<void> => {
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          found.push(...(await seriousFindings(page)).map((one) => `${where}, ${colorScheme}: ${one}`));
        }
      };
      await page.getByRole("button", { name: "Add a passkey" }).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor();
      await look("add");
      await page.keyboard.press("Tab");
      await page.getByRole("textbox", { name: "Name" }).focus();
      await page.keyboard.type(hostile);
      await page.keyboard.press("Enter");
      await rowOf(page, hostile).waitFor();
      await look("list");
      const remove = page.getByRole("button", { name: `Remove ${hostile}` });
      await remove.focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("Token of this device").waitFor();
      await look("remove");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await expect.poll(() => page.locator(":focus").getAttribute("aria-label")).toBe(`Remove ${hostile}`);
      await signOut(person);
      await passkeyButton(page).waitFor();
      await look("sign-in");
      await passkeyButton(page).focus();
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Sign out" }).waitFor();
      expect(found).toEqual([]);
      expect(await page.evaluate("window.hacked")).toBeUndefined();
      person.expectCalm();
    });

    test.each([360, 1280])("fit %i pixels: no sideways scrolling, no cut dialog", async (pixels) => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { viewport: { width: pixels, height: 740 } });
      const { page } = person;
      await Authenticator.plugInto(page);
      await addPasskey(person, "A key with a rather long name, on the ring of the front door");
      const hidden = (selector: string): Promise<number> =>
        page.evaluate(
          `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("${selector}"))`,
        );
      expect(await hidden("html")).toBe(0);
      await page.getByRole("button", { name: /^Remove/ }).click();
      await page.getByLabel("Token of this device").waitFor();
      expect([await hidden("html"), await hidden("dialog")]).toEqual([0, 0]);
    });
  });

  describe("browsers without passkeys", () => {
    test("names the address to use instead of an IP address", async () => {
      await using fixture = await openPasskeyFixture();
      const there = { ...fixture, url: fixture.daemon.url };
      await using person = await meet(scene().browser, there);
      const { page } = person;
      const link = page.getByRole("link", { name: `${fixture.url}/` });
      await link.waitFor();
      expect(await passkeyButton(page).count()).toBe(0);
      await page.getByText("Use a token instead").click();
      await page.getByLabel("Token").fill(fixture.token);
      await page.keyboard.press("Enter");
      await person.go("passkeys", "Passkeys");
      await link.waitFor();
      expect(await page.getByRole("button", { name: "Add a passkey" }).count()).toBe(0);
      person.expectCalm();
    });

    test("names a browser without passkeys", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await meet(scene().browser, fixture);
      const { page } = person;
      await page.addInitScript("delete window.PublicKeyCredential");
      await page.reload();
      await page.getByText("This browser has no passkeys.").waitFor();
      expect(await passkeyButton(page).count()).toBe(0);
    });
  });
}
