/** Sign-in with a passkey: whose session it is, and what ends it. */
import { describe, expect, test } from "vitest";
import { Authenticator } from "../fixture/authenticator.ts";
import {
  addPasskey,
  passkeyButton,
  passkeysOf,
  signInByPasskey,
  signOut,
  trySignIn,
} from "../fixture/passkey-actions.ts";
import { openPasskeyFixture } from "../fixture/passkey-fixture.ts";
import { atHome, meet, signedIn, signIn } from "../fixture/person.ts";
import type { BrowserScene } from "../fixture/scene.ts";

interface Session {
  readonly device: { readonly id: string; readonly name: string; readonly scope: string };
}

export function passkeySignInCases(scene: () => BrowserScene): void {
  describe("signing in with a passkey", () => {
    test("gets the device that added it, across a reload and a second tab, until sign-out", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { name: "desk" });
      const { page, context } = person;
      const authenticator = await Authenticator.plugInto(page);
      await addPasskey(person, "Laptop's own");
      expect(await authenticator.stored()).toMatchObject([{ rpId: "localhost", isResidentCredential: true }]);
      await signOut(person);
      expect(await context.cookies()).toEqual([]);

      await signInByPasskey(person);
      expect(await context.cookies()).toMatchObject([{ name: "svc_session", httpOnly: true, sameSite: "Strict" }]);
      expect(await page.getByText("desk, operator").count()).toBe(1);
      const { devices } = await fixture.get<{ devices: Session["device"][] }>("/api/devices");
      expect(devices.map(({ name }) => name).toSorted()).toEqual(["desk", expect.any(String)]);
      await person.go("config", "Config");
      await page.reload();
      await page.getByRole("heading", { level: 1, name: "Config" }).waitFor();
      const tab = await person.tab();
      await atHome(tab);
      await signOut(person);
      await passkeyButton(tab).waitFor();
      const stored = await page.evaluate<string>("JSON.stringify([{ ...localStorage }, { ...sessionStorage }])");
      expect(stored).toBe("[{},{}]");
      person.expectCalm();
    });

    test("lets a reader add and use its own passkey, and only read", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { name: "wall display", scope: "read" });
      await Authenticator.plugInto(person.page);
      await addPasskey(person, "Wall");
      await signOut(person);
      await signInByPasskey(person);
      expect(await person.page.getByText("wall display, read").count()).toBe(1);
      await person.go("config", "Not for this device");
      // The fixture's own device has none, and sees none of others.
      expect(await passkeysOf(fixture)).toEqual([]);
      person.expectCalm();
    });

    test("gets the same device in another browser with the same authenticator", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { name: "desk" });
      const authenticator = await Authenticator.plugInto(person.page);
      await addPasskey(person, "Key");
      await using elsewhere = await meet(scene().browser, fixture);
      const plugged = await Authenticator.plugInto(elsewhere.page, { kind: "usb" });
      for (const credential of await authenticator.stored()) await plugged.hold(credential);
      await signInByPasskey(elsewhere);
      await elsewhere.go("devices", "Devices");
      expect(await elsewhere.page.getByText("desk, operator").count()).toBe(1);
      await signOut(elsewhere);
      // That was another sign-in: this one goes on.
      await person.go("devices", "Devices");
      person.expectCalm();
    });

    test("ends its sessions and forgets its passkey when the device is revoked", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { name: "lost phone" });
      const { page } = person;
      await Authenticator.plugInto(page);
      await addPasskey(person, "Phone");
      await signOut(person);
      await signInByPasskey(person);
      const { devices } = await fixture.get<{ devices: Session["device"][] }>("/api/devices");
      const id = devices.find(({ name }) => name === "lost phone")?.id;
      await fixture.daemon.request(`/api/devices/${id}`, { method: "DELETE", token: fixture.token });
      await page.getByText("Your sign-in has ended").waitFor();
      await trySignIn(person);
      const alert = await page.getByRole("alert").textContent();
      expect(alert).toContain("PASSKEY_UNKNOWN");
      await page.getByText("it was removed, or its device was revoked").waitFor();
      // A code still works.
      await page.getByLabel("Pairing code").fill(await fixture.pairingCode());
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Sign out" }).waitFor();
    });

    test("returns to the sign-in page when the person cancels or is not recognised", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await signedIn(scene().browser, fixture, { name: "desk" });
      const { page, context } = person;
      const authenticator = await Authenticator.plugInto(page);
      await addPasskey(person, "Key");
      await signOut(person);
      const isQuiet = async (): Promise<void> => {
        expect(await page.getByRole("alert").count()).toBe(0);
        expect(await context.cookies()).toEqual([]);
        expect(await passkeyButton(page).isEnabled()).toBe(true);
      };
      await authenticator.recognises(false);
      await trySignIn(person);
      await isQuiet();
      await page.evaluate(`navigator.credentials.get = () => {
        delete navigator.credentials.get;
        return Promise.reject(new DOMException("The operation either timed out or was not allowed.", "NotAllowedError"));
      }`);
      await trySignIn(person);
      await isQuiet();
      await authenticator.recognises(true);
      await signInByPasskey(person);
      person.expectCalm();
    });

    test("is offered only if passkeys are on, once that is known", async () => {
      await using fixture = await openPasskeyFixture({ section: "[security.webauthn]\nenabled = true\n" });
      await using person = await meet(scene().browser, fixture);
      const { page } = person;
      await page.getByLabel("Pairing code").waitFor();
      await signIn(person, fixture, "--name", "desk");
      await Authenticator.plugInto(page);
      await addPasskey(person, "Key");
      await page.getByText("The sign-in page takes none yet").waitFor();
      await signOut(person);
      await page.getByLabel("Pairing code").waitFor();
      expect(await passkeyButton(page).count()).toBe(0);
      expect((await fixture.post("/api/webauthn/auth/start", {})).status).toBe(401);
    });
  });
}
