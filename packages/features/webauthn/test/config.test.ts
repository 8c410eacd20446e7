// What the section says and what it can't say; and which pages passkeys work on for it.
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import definition from "../src/index.ts";
import { ANN, openFixture, OPEN, refusal, STRANGER } from "./fixture.ts";

const problemsOf = (section: object): string[] =>
  (v.safeParse(definition.config!, section).issues ?? []).map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);

describe("the section", () => {
  test.each([
    {},
    { rp_id: "example.org", rp_origin: "https://agent.example.org" },
    { rp_id: "EXAMPLE.org", rp_origin: "https://agent.example.org/" },
    { rp_id: "agent.example.org", rp_origin: "https://agent.example.org:8443" },
    { rp_origin: "http://localhost:3000" },
    { rp_id: "localhost", rp_origin: "http://localhost:3000" },
    { rp_origin: "https://xn--bcher-kva.example" },
  ])("%j is taken", (section) => {
    expect(problemsOf(section)).toEqual([]);
  });

  test.each([
    [{ rp_id: "203.0.113.5" }, /^rp_id: .*no passkey to an IP address/],
    [{ rp_id: "[::1]" }, /^rp_id/],
    [{ rp_id: "0x7f.1" }, /^rp_id/],
    [{ rp_id: "org" }, /^rp_id/],
    [{ rp_id: "https://example.org" }, /^rp_id/],
    [{ rp_id: "example.org:443" }, /^rp_id/],
    [{ rp_id: "" }, /^rp_id/],
    [{ rp_id: "other.org", rp_origin: "https://agent.example.org" }, /^rp_id: the host of rp_origin/],
    [{ rp_id: "ple.org", rp_origin: "https://example.org" }, /^rp_id: the host of rp_origin/],
    [{ rp_id: "a.example.org", rp_origin: "https://example.org" }, /^rp_id: the host of rp_origin/],
    [{ rp_origin: "https://203.0.113.5" }, /^rp_origin: https:\/\/ and a host name/],
    [{ rp_origin: "https://[::1]:8080" }, /^rp_origin/],
    [{ rp_origin: "http://agent.example.org" }, /^rp_origin/],
    [{ rp_origin: "http://127.0.0.1:3000" }, /^rp_origin/],
    [{ rp_origin: "https://agent.example.org/dashboard" }, /^rp_origin/],
    [{ rp_origin: "https://user:pass@agent.example.org" }, /^rp_origin/],
    [{ rp_name: " " }, /^rp_name/],
    [{ rp_name: "x".repeat(65) }, /^rp_name/],
  ])("%j is refused", (section, problem) => {
    expect(problemsOf(section).join()).toMatch(problem);
  });
});

describe("together with gateway.public_url", () => {
  const opened = (section: object, publicUrl?: string) =>
    refusal(openFixture({ section: { ...section }, publicUrl: publicUrl! }));

  test.each([
    [{}, "https://agent.example.org", "taken"],
    [{}, "https://agent.example.org/behind/a/path", "taken"],
    [{}, "http://localhost:8080", "taken"],
    [{ rp_id: "example.org" }, "https://agent.example.org", "taken"],
    [{ rp_id: "other.org" }, "https://agent.example.org", "CONFIG_INVALID"],
    [{}, "https://203.0.113.5", "CONFIG_INVALID"],
    [{}, "http://agent.example.org", "CONFIG_INVALID"],
    [{ rp_origin: "https://agent.example.org" }, "https://203.0.113.5", "taken"],
    [{ rp_id: "example.org" }, undefined, "CONFIG_INVALID"],
    [{ rp_id: "localhost" }, undefined, "taken"],
  ])("%j with %s: %s", async (section, publicUrl, end) => {
    expect(await opened(section, publicUrl)).toBe(end);
  });
});

describe("the page", () => {
  test("is public_url's, and no other one is asked for a finger", async () => {
    const fixture = await openFixture({ section: { enabled: true }, publicUrl: "https://agent.example.org" });
    expect(await fixture.begin(ANN, "ann")).toMatchObject({ rp: { id: "agent.example.org" } });
    const start = { path: "/api/webauthn/register/start", caller: ANN, body: { user_id: "ann", user_name: "Ann" } };
    expect(await refusal(fixture.call({ ...start, origin: "http://localhost:8080" }))).toBe("PASSKEY_REFUSED");
  });

  test("is a domain below rp_id", async () => {
    const fixture = await openFixture({ section: { ...OPEN, rp_id: "example.org" } });
    const key = new SoftAuthenticator();
    await fixture.add(ANN, key);
    expect(key.credentials[0]?.rpId).toBe("example.org");
    expect(await fixture.signIn(STRANGER, key)).toMatchObject({ as: "client-ann" });
  });

  test("is http://localhost at any port where the config names none", async () => {
    const key = new SoftAuthenticator();
    const fixture = await openFixture({ section: { enabled: true, sign_in: true }, origin: "http://localhost:8080" });
    expect(await fixture.begin(ANN, "x")).toMatchObject({ rp: { id: "localhost", name: "svc" } });
    await fixture.add(ANN, key);
    expect(await fixture.signIn(STRANGER, key)).toMatchObject({ as: "client-ann" });
    // What was begun on one port does not end on another.
    const asked = await fixture.ask(STRANGER);
    expect(await refusal(fixture.answer(STRANGER, key.get(asked, "http://localhost:9090")))).toBe("PASSKEY_REFUSED");
  });

  test.each(["http://127.0.0.1:8080", "http://[::1]:8080", "https://agent.example.org", "http://evil.localhost", null])(
    "is not %s there, and that is told in words",
    async (origin) => {
      const fixture = await openFixture({ section: { enabled: true }, origin });
      await expect(fixture.begin(ANN, "ann")).rejects.toMatchObject({
        code: "PASSKEY_REFUSED",
        message: expect.stringContaining("http://localhost") as string,
        hint: expect.stringContaining("public_url") as string,
      });
    },
  );
});
