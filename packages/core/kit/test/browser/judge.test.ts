import { SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { browserGuard } from "../../src/browser/guard.ts";
import { judgePage } from "../../src/browser/call.ts";

const guard = browserGuard(["*"], () => Promise.resolve([]));
const refused = (host: string) => ({ host, error: new SvcError("DOMAIN_REFUSED", host) });
const told = (...hosts: string[]) =>
  judgePage("chrome-error://chromewebdata/", guard, hosts.map(refused)).error?.message;

test("of a page that could not be had the refusal is told that the page asked for, not one of the browser's own wishes", () => {
  expect(told("evil.test", "accounts.google.com")).toBe("evil.test");
  expect(told("accounts.google.com", "evil.test", "clients2.google.com")).toBe("evil.test");
  expect(told("notgoogle.com", "google.com")).toBe("notgoogle.com");
  expect(told("accounts.google.com")).toBe("accounts.google.com");
});
