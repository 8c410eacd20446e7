/** Attacks on passkeys: copied, relayed from another site, replayed, forged. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { Authenticator } from "../fixture/authenticator.ts";
import {
  addPasskey,
  nextPost,
  passkeyButton,
  passkeysOf,
  rowOf,
  signInByPasskey,
  signOut,
  trySignIn,
} from "../fixture/passkey-actions.ts";
import { openPasskeyFixture, type PasskeyFixture } from "../fixture/passkey-fixture.ts";
import { type Person, signedIn } from "../fixture/person.ts";
import type { BrowserScene } from "../fixture/scene.ts";

const FINISH = "/api/webauthn/auth/finish";

const outcomeOf = async (response: Response) => [response.status, ((await response.json()) as { code: string }).code];

export function passkeyAttackCases(scene: () => BrowserScene): void {
  const people = async (fixture: PasskeyFixture): Promise<Person> => signedIn(scene().browser, fixture);

  describe("a passkey of an attacker", () => {
    test("refuses a copied passkey at its next use, marks it suspect, and stays refused", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await people(fixture);
      const { page } = person;
      const authenticator = await Authenticator.plugInto(page);
      await addPasskey(person, "Key");
      const [copy] = await authenticator.stored();
      for (let use = 0; use < 2; use += 1) {
        await signOut(person);
        await signInByPasskey(person);
      }
      await signOut(person);
      const [original] = await authenticator.stored();
      expect(original!.signCount).toBeGreaterThan(copy!.signCount + 1);

      await authenticator.hold(copy!);
      await trySignIn(person);
      await page.getByRole("alert").filter({ hasText: "its counter went back" }).waitFor();
      expect(await person.context.cookies()).toEqual([]);
      // Neither of the two is known to be the attacker's.
      await authenticator.hold(original!);
      await trySignIn(person);
      await page.getByRole("alert").filter({ hasText: "PASSKEY_REFUSED" }).waitFor();
      expect(await passkeysOf(fixture)).toMatchObject([{ name: "Key", suspect: true }]);

      await page.getByText("Use a token instead").click();
      await page.getByLabel("Token").fill(fixture.token);
      await page.keyboard.press("Enter");
      await rowOf(page, "Key").getByText("suspect").waitFor();
      await rowOf(page, "Key").getByText("It counted backwards").waitFor();
      person.expectCalm();
    });

    test("refuses an assertion that another site requested with a relayed challenge", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await people(fixture);
      const { page, context } = person;
      const authenticator = await Authenticator.plugInto(page);
      await addPasskey(person, "Key");
      // Another port of this machine: browsers use the same passkeys there.
      await using site = await otherSite();
      const phished = await context.newPage();
      await phished.goto(site.url);
      const fake = await Authenticator.plugInto(phished);
      for (const credential of await authenticator.stored()) await fake.hold(credential);

      const options = await (await fixture.post("/api/webauthn/auth/start", {})).json();
      const answer = await assertionOn(phished, options);
      expect(await outcomeOf(await fixture.post(FINISH, answer))).toEqual([403, "PASSKEY_REFUSED"]);
      // Nor can the site ask for itself: not read, not write, and not by pretending to be a program of the browser's.
      expect(await outcomeOf(await fixture.post(FINISH, answer, { origin: site.url }))).toEqual([403, "BAD_ORIGIN"]);
      expect(
        await phished.evaluate<string>(`fetch("${fixture.url}${FINISH}", { method: "POST", mode: "no-cors", credentials: "include" })
        .then(({ type, status }) => type + " " + status)`),
      ).toBe("opaque 0");
      expect(await context.cookies()).toMatchObject([{ name: "svc_session" }]);
      expect(await passkeysOf(fixture)).toMatchObject([{ last_used_at: null, suspect: false }]);
    });

    test("works only on the configured address, and the page says so before the browser's dialog", async () => {
      const elsewhere =
        '[security.webauthn]\nenabled = true\nsign_in = true\nrp_origin = "https://agent.example.org"\n';
      await using fixture = await openPasskeyFixture({ section: elsewhere });
      await using person = await people(fixture);
      const { page } = person;
      const authenticator = await Authenticator.plugInto(page);
      await person.go("passkeys", "Passkeys");
      await page.getByRole("button", { name: "Add a passkey" }).click();
      await page.getByRole("button", { name: "Go on" }).click();
      await page.getByRole("alert").filter({ hasText: "PASSKEY_REFUSED" }).waitFor();
      await page.keyboard.press("Escape");
      await signOut(person);
      await trySignIn(person);
      await page.getByRole("alert").filter({ hasText: "on another address than this page's" }).waitFor();
      expect(await authenticator.stored()).toEqual([]);
    });

    test("refuses a replayed assertion, with the same challenge and with another one", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await people(fixture);
      const { page } = person;
      await Authenticator.plugInto(page);
      await person.go("passkeys", "Passkeys");
      const adding = nextPost(page, "/api/webauthn/register/finish");
      await addPasskey(person, "Key");
      const added = JSON.parse((await adding).postData() ?? "") as object;
      expect(
        await outcomeOf(await fixture.post("/api/webauthn/register/finish", added, { token: fixture.token })),
      ).toEqual([410, "PASSKEY_EXPIRED"]);
      await signOut(person);
      const using = nextPost(page, FINISH);
      await signInByPasskey(person);
      const used = JSON.parse((await using).postData() ?? "") as { response: { clientDataJSON: string } };
      expect(await outcomeOf(await fixture.post(FINISH, used))).toEqual([410, "PASSKEY_EXPIRED"]);

      const { challenge } = (await (await fixture.post("/api/webauthn/auth/start", {})).json()) as {
        challenge: string;
      };
      const data = JSON.parse(Buffer.from(used.response.clientDataJSON, "base64url").toString()) as object;
      const clientDataJSON = Buffer.from(JSON.stringify({ ...data, challenge })).toString("base64url");
      const forged = { ...used, response: { ...used.response, clientDataJSON } };
      expect(await outcomeOf(await fixture.post(FINISH, forged))).toEqual([403, "PASSKEY_REFUSED"]);
      expect(await passkeysOf(fixture)).toHaveLength(1);
    });

    test.each([
      ["an assertion with a wrong signature", { isBogusSignature: true }],
      ["an assertion without user verification", { isBadUV: true }],
    ] as const)("refuses %s, whatever the browser accepts", async (_name, bits) => {
      await using fixture = await openPasskeyFixture();
      await using person = await people(fixture);
      const { page, context } = person;
      const authenticator = await Authenticator.plugInto(page);
      await addPasskey(person, "Key");
      await signOut(person);
      await authenticator.lies(bits);
      await trySignIn(person);
      await page.getByRole("alert").filter({ hasText: "PASSKEY_REFUSED" }).waitFor();
      expect(await context.cookies()).toEqual([]);
      await passkeyButton(page).waitFor();
    });

    test("refuses to add, list, rename or remove passkeys of another user", async () => {
      await using fixture = await openPasskeyFixture();
      await using person = await people(fixture);
      const { page } = person;
      await Authenticator.plugInto(page);
      await addPasskey(person, "Key");
      const [passkey] = await passkeysOf(fixture);
      const other = await fixture.tokenOf("other");
      const { user_id, user_name } = passkey!;
      const start = await fixture.post("/api/webauthn/register/start", { user_id, user_name }, { token: other });
      expect(await outcomeOf(start)).toEqual([404, "PASSKEY_UNKNOWN"]);
      expect(await passkeysOf(fixture, other)).toEqual([]);
      const place = `/api/webauthn/credentials/${passkey?.id}`;
      for (const [path, method, body] of [
        [`${place}/name`, "PUT", { name: "mine" }],
        [place, "DELETE", undefined],
      ] as const) {
        const response = await fixture.daemon.request(path, { method, token: other, ...(body && { body }) });
        expect(await outcomeOf(response)).toEqual([404, "PASSKEY_UNKNOWN"]);
      }
      expect(await passkeysOf(fixture)).toEqual([passkey]);
    });
  });
}

/** A page of another program on this machine. */
async function otherSite(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_incoming, outgoing) => {
    outgoing.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Win a prize</title>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** With the browser's own functions, as any site can. */
const assertionOn = (page: Page, options: unknown): Promise<object> =>
  page.evaluate<object>(`navigator.credentials
    .get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(${JSON.stringify(options)}) })
    .then((credential) => credential.toJSON())`);
