/** `@simplewebauthn/browser` as it comes from npm, in a page that knows nothing of ours: the bodies are the browser's own. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { Authenticator } from "../fixture/authenticator.ts";
import { passkeysOf } from "../fixture/passkey-actions.ts";
import { openPasskeyFixture } from "../fixture/passkey-fixture.ts";
import { meet } from "../fixture/person.ts";
import type { BrowserScene } from "../fixture/scene.ts";

const require = createRequire(import.meta.url);
const BUNDLE = join(dirname(require.resolve("@simplewebauthn/browser")), "../dist/bundle/index.umd.min.js");

const PAGE = `<!doctype html><title>A page of somebody's own</title><script src="/own/library.js"></script>`;

/** Runs there, with `post(path, body, token)` at hand. */
const inPage = <Answer>(page: Page, body: string): Promise<Answer> =>
  page.evaluate<Answer>(`(async () => {
    const post = async (path, body, token) => {
      const headers = { "Content-Type": "application/json", ...(token && { Authorization: "Bearer " + token }) };
      const response = await fetch("/api/webauthn/" + path, { method: "POST", headers, body: JSON.stringify(body) });
      return { status: response.status, json: await response.json() };
    };
    const { startRegistration, startAuthentication } = SimpleWebAuthnBrowser;
    ${body}
  })()`);

export function passkeyLibraryCases(scene: () => BrowserScene): void {
  test("the unchanged @simplewebauthn/browser adds a passkey and signs in, with any user_id and by its list", async () => {
    await using fixture = await openPasskeyFixture();
    await using person = await meet(scene().browser, fixture);
    const { page, context } = person;
    await context.route(`${fixture.url}/own/page`, (route) => route.fulfill({ contentType: "text/html", body: PAGE }));
    await context.route(`${fixture.url}/own/library.js`, (route) =>
      route.fulfill({ contentType: "text/javascript", body: readFileSync(BUNDLE) }),
    );
    await page.goto(`${fixture.url}/own/page`);
    await Authenticator.plugInto(page);

    const registered = await inPage<{ status: number; json: { name: string; user_id: string } }>(
      page,
      `const token = ${JSON.stringify(fixture.token)};
       const { json: optionsJSON } = await post("register/start", { user_id: "robin@example.org", user_name: "Robin" }, token);
       return post("register/finish", await startRegistration({ optionsJSON }), token);`,
    );
    expect(registered).toMatchObject({ status: 201, json: { user_id: "robin@example.org", user_name: "Robin" } });
    expect(await passkeysOf(fixture)).toMatchObject([{ user_id: "robin@example.org" }]);

    for (const [start, token] of [
      ["{}", ""],
      ['{ user_id: "robin@example.org" }', ""],
      ['{ user_id: "robin@example.org" }', fixture.token],
    ] as const) {
      const signedIn = await inPage<{ status: number; json: { csrf: string; device: { scope: string } } }>(
        page,
        `const token = ${JSON.stringify(token)};
         const { json: optionsJSON } = await post("auth/start", ${start}, token);
         return post("auth/finish", await startAuthentication({ optionsJSON }), token);`,
      );
      expect(signedIn).toMatchObject({
        status: 200,
        json: { verified: true, user_id: "robin@example.org", csrf: expect.any(String), device: { scope: "operator" } },
      });
      const csrf = JSON.stringify(signedIn.json.csrf);
      expect(
        await page.evaluate(
          `fetch("/api/devices", { headers: { "X-Svc-Csrf": ${csrf} } }).then(({ status }) => status)`,
        ),
      ).toBe(200);
    }
    expect(await passkeysOf(fixture)).toMatchObject([{ last_used_at: expect.any(String), suspect: false }]);
    person.expectCalm();
  });
}
