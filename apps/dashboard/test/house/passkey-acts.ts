/** What people do with passkeys on the page. */
import type { Page, Request } from "playwright-core";
import type { Passkey } from "../../src/passkeys/passkeys.ts";
import type { PasskeyHouse } from "./passkey-house.ts";
import type { Person } from "./person.ts";

/** By the page's own form; an empty name leaves it to the service. */
export async function addPasskey(person: Person, name: string): Promise<void> {
  const { page } = person;
  await person.go("passkeys", "Passkeys");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await page.getByRole("button", { name: "Go on" }).click();
  await (name === "" ? page.getByRole("dialog").waitFor({ state: "detached" }) : rowOf(page, name).waitFor());
}

export const rowOf = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("button", { name: `Remove ${name}`, exact: true }) });

export async function signOut({ page }: Person): Promise<void> {
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
}

export const passkeyButton = (page: Page) => page.getByRole("button", { name: "Sign in with a passkey" });

export async function signInByPasskey({ page }: Person): Promise<void> {
  await passkeyButton(page).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}

/** Presses, and waits until the page has made up its mind. */
export async function trySignIn({ page }: Person): Promise<void> {
  await passkeyButton(page).click();
  await page.locator("button[aria-busy=false]", { hasText: "Sign in with a passkey" }).waitFor();
}

export const passkeysOf = async (house: PasskeyHouse, token?: string): Promise<readonly Passkey[]> =>
  (await house.get<{ readonly credentials: readonly Passkey[] }>("/api/webauthn/credentials", token)).credentials;

/** What the page posts there next. */
export const nextPost = (page: Page, path: string): Promise<Request> =>
  page.waitForRequest((request) => request.method() === "POST" && new URL(request.url()).pathname === path);
