/** Services without passkeys: the answers of their paths, and a page that does not mention them. */
import { describe, expect, test } from "vitest";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { passkeyButton } from "../fixture/passkey-actions.ts";
import { openPasskeyFixture, type PasskeyFixtureOptions, PASSKEYS_ON } from "../fixture/passkey-fixture.ts";
import { meet, signInByToken } from "../fixture/person.ts";
import type { BrowserScene } from "../fixture/scene.ts";

const OFF = "the feature webauthn is off; set [security.webauthn] enabled = true in the config, then run: svc reload";
const ABSENT =
  "the feature webauthn is not in this build; build it in with: npx pnpm build minimal --with webauthn, " +
  "then set [security.webauthn] enabled = true in the config";

const PATHS = [
  ["POST", "/api/webauthn/register/start"],
  ["POST", "/api/webauthn/register/finish"],
  ["POST", "/api/webauthn/auth/start"],
  ["POST", "/api/webauthn/auth/finish"],
  ["GET", "/api/webauthn/credentials?user_id=x"],
  ["DELETE", "/api/webauthn/credentials/abc?user_id=x"],
  ["PUT", "/api/webauthn/credentials/abc/name"],
] as const;

export function passkeyAbsenceCases(scene: () => BrowserScene): void {
  describe("a service without passkeys", () => {
    const fixtures: readonly (readonly [string, PasskeyFixtureOptions, string])[] = [
      ["a service that leaves them off", { section: "" }, OFF],
      ["a service that turns them off", { section: "[security.webauthn]\nenabled = false\nsign_in = true\n" }, OFF],
      ["a build without them", { section: "", binary: binaryPath({}) }, ABSENT],
    ];

    test.each(fixtures)("%s answers every caller with an error and a fix", async (_name, options, error) => {
      await using fixture = await openPasskeyFixture(options);
      for (const [method, path] of PATHS) {
        for (const token of [undefined, fixture.token, "wrong"]) {
          const response = await fixture.daemon.request(path, { method, ...(token !== undefined && { token }) });
          expect([response.status, await response.json()]).toEqual([404, { error, code: "NOT_CONFIGURED" }]);
        }
      }
      expect((await fixture.daemon.request("/api/webauthn")).status).toBe(404);
      expect(await (await fixture.daemon.request("/api/session/ways")).json()).toEqual({ features: [] });
    });

    test.each(fixtures)("%s does not mention them in its page or console", async (_name, options, error) => {
      await using fixture = await openPasskeyFixture(options);
      await using person = await meet(scene().browser, fixture);
      const { page } = person;
      const noise: string[] = [];
      // The page asks whether it is signed in, and 401 is the answer.
      page.on("console", (message) => {
        if (!message.text().includes("status of 401")) noise.push(message.text());
      });
      await page.reload();
      await page.getByLabel("Pairing code").waitFor();
      await page.waitForLoadState("networkidle");
      expect([await passkeyButton(page).count(), await page.getByText(/passkey/i).count()]).toEqual([0, 0]);
      await signInByToken(person, fixture);
      await person.go("devices", "Devices");
      await page.waitForLoadState("networkidle");
      expect(await page.getByRole("link", { name: "Passkeys" }).count()).toBe(0);
      expect(noise).toEqual([]);
      // A typed address shows the daemon's error.
      await person.go("passkeys", "Passkeys");
      await page.getByText(error).waitFor();
      expect(await page.getByRole("button", { name: "Add a passkey" }).count()).toBe(0);
      person.expectCalm();
    });
  });

  test("a service whose passkeys failed reports it, and its page does not offer them", async () => {
    // What only shows together with the rest of the config: no page of this domain is known.
    await using fixture = await openPasskeyFixture({ section: `${PASSKEYS_ON}rp_id = "example.org"\n` });
    for (const [method, path] of PATHS) {
      const response = await fixture.daemon.request(path, { method });
      expect([response.status, await response.json()]).toMatchObject([503, { code: "FEATURE_DOWN" }]);
    }
    await using person = await meet(scene().browser, fixture);
    const { page } = person;
    await page.getByLabel("Pairing code").waitFor();
    await page.waitForLoadState("networkidle");
    expect(await passkeyButton(page).count()).toBe(0);
    await signInByToken(person, fixture);
    await person.go("overview", "Overview");
    await page.getByText("rp_id").waitFor();
    await person.go("devices", "Devices");
    expect(await page.getByRole("link", { name: "Passkeys" }).count()).toBe(0);
  });

  test("a reload turns passkeys on, and another one off", async () => {
    await using fixture = await openPasskeyFixture({ section: "" });
    await using person = await meet(scene().browser, fixture);
    const { page } = person;
    await page.getByLabel("Pairing code").waitFor();
    const configure = async (section: string): Promise<void> => {
      fixture.write(section);
      await fixture.run("reload");
      await page.reload();
      await page.getByLabel("Pairing code").waitFor();
      await page.waitForLoadState("networkidle");
    };
    await configure(PASSKEYS_ON);
    expect(await passkeyButton(page).count()).toBe(1);
    await configure("");
    expect(await passkeyButton(page).count()).toBe(0);
  });
}
