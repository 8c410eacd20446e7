// The `browser.*` groups of the conformance vectors: which hosts are private, which a list has, and which addresses the tool opens.
// Here, as the kit's own tests can't have the testkit.
import { createGuardedResolve } from "@svc/kit";
import { browserGuard, isAllowedHost, isPrivateHost } from "@svc/kit/browser";
import { expect, test } from "vitest";
import { vectorCases } from "../src/vectors.ts";

interface Address {
  readonly url: string;
  readonly allowed_domains?: string[];
  readonly allowed?: string[];
}

/** All that the tool asks before it opens an address; every name leads to a public machine. */
async function opening({ url, allowed_domains: domains, allowed = [] }: Address): Promise<string> {
  const resolve = createGuardedResolve({ allowPrivate: [], lookup: async () => ["93.184.215.14"] });
  const guard = browserGuard(domains ?? allowed, resolve);
  return guard.check(url).then(
    () => "ok",
    (error: Error) => error.message,
  );
}

type Expected = { readonly private: boolean } | { readonly error_contains: string };

/** What is told of a case: as much of a refusal as the case names. */
async function judged(input: string | Address, expected: Expected): Promise<Expected> {
  if (typeof input === "string") return { private: isPrivateHost(input) };
  const message = await opening(input);
  return "error_contains" in expected && message.includes(expected.error_contains)
    ? expected
    : { error_contains: message };
}

test.each(vectorCases<string | Address, Expected>("browser.private_host"))("$name", async ({ input, expected }) => {
  expect(await judged(input, expected)).toEqual(expected);
});

test.each(vectorCases<{ host: string; allowed: string[] }, boolean>("browser.allowlist"))(
  "$name",
  ({ input, expected }) => {
    expect(isAllowedHost(input.host, input.allowed)).toBe(expected);
  },
);

test.each(vectorCases<Address, { ok: boolean }>("browser.url"))("open: $name", async ({ input, expected }) => {
  expect((await opening(input)) === "ok").toBe(expected.ok);
});

test.each(
  vectorCases<string | Address, Expected>("browser.private_host").filter(({ input }) => typeof input === "string"),
)("a private host is refused by open, whatever the list: $name", async ({ input, expected }) => {
  const outcome = await opening({ url: `https://${input as string}/`, allowed: ["*"] });
  expect(outcome === "ok").toBe("private" in expected && !expected.private);
});
