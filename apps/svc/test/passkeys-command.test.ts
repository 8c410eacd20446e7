// Whoever has a terminal sees every passkey and takes any away, whatever became of the phone that it was on.
import { runBinary } from "@svc/testkit/binary/run-binary";
import { binaryPath, fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";
import {
  addPasskey,
  ask,
  type Line,
  listed,
  originOf,
  pairAnother,
  proofOf,
  prove,
  SIGN_IN,
  startAll,
  svc,
} from "./passkey-fixture.ts";

describe("svc passkeys", () => {
  test("lists, renames and removes what every device has, with a daemon and without", async () => {
    using home = homeWith(SIGN_IN);
    const daemon = await startAll(home.path);
    const [token, other] = [await daemon.pair(), await pairAnother(daemon, home.path)];
    expect((await svc(home.path, "passkeys", "list")).stdout).toContain("No passkeys.");
    const phone = new SoftAuthenticator();
    await addPasskey(daemon, { token }, phone, "ann");
    await addPasskey(daemon, { token: other }, new SoftAuthenticator(), "ben");
    const lines = await listed(home.path);
    expect(lines.map(({ user_id, device }) => [user_id, device.name])).toEqual([
      ["ann", expect.any(String)],
      ["ben", "another operator"],
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/client_id|public/i);
    expect(await listed(home.path, "--user-id", "ben")).toEqual([lines[1]]);
    const [{ id }] = lines as [Line, Line];
    const start = id.slice(0, 12);
    expect((await svc(home.path, "passkeys", "rename", start, "the blue key")).stdout).toContain("the blue key");
    expect((await svc(home.path, "passkeys", "list")).stdout).toMatch(/the blue key +ann +of .* never used/);
    const removed = await svc(home.path, "passkeys", "remove", start, "--yes");
    expect([removed.code, removed.stdout]).toEqual([0, expect.stringContaining("ann has no passkey any more")]);
    expect((await prove(daemon, await proofOf(daemon, phone))).status).toBe(404);
    await daemon.stop();
    expect((await svc(home.path, "passkeys", "remove", lines[1]!.id, "--yes")).code).toBe(0);
    expect(await listed(home.path)).toEqual([]);
  });

  test("takes an id that begins like an option", async () => {
    using home = homeWith(SIGN_IN);
    await using daemon = await startAll(home.path);
    const token = await daemon.pair();
    for (let tries = 0; tries < 500; tries += 1) {
      const key = new SoftAuthenticator();
      const options = (
        await ask(daemon, "POST", "webauthn/register/start", { token }, { user_id: "ann", user_name: "a" })
      ).body;
      const made = key.create(options as never, originOf(daemon));
      if (!made.id.startsWith("-") || made.id.startsWith("--")) continue;
      expect((await ask(daemon, "POST", "webauthn/register/finish", { token }, made)).status).toBe(201);
      const done = await svc(home.path, "passkeys", "remove", made.id.slice(0, 12), "--yes");
      expect([done.stderr, done.code]).toEqual(["", 0]);
      return;
    }
    throw new Error("no id began with a dash");
  });

  test("says what is wrong, and what to do about it", async () => {
    using on = homeWith(SIGN_IN);
    const said = async (home: string, binary: string, ...words: string[]) => {
      const { code, stderr } = await runBinary(["passkeys", ...words, "--json"], { home, binary });
      return [code, stderr];
    };
    const all = fullestBinaryPath();
    expect(await said(on.path, all, "remove", "AAAA")).toEqual([64, expect.stringContaining("PASSKEY_UNKNOWN")]);
    expect(await said(on.path, all, "list", "--user-id", "nobody")).toEqual([0, ""]);
    expect(await said(on.path, all, "list", "--user-id", "x".repeat(200))).toEqual([
      64,
      expect.stringContaining("USAGE"),
    ]);
    expect(await said(on.path, all, "rename", "AAAA")).toEqual([64, expect.stringContaining("needs <name>")]);
    using off = homeWith("[security.webauthn]\nenabled = false\n");
    expect(await said(off.path, all, "list")).toEqual([
      64,
      expect.stringMatching(/NOT_CONFIGURED|set \[security.webauthn\] enabled = true/),
    ]);
    using plain = homeWith("");
    await using daemon = await startBinary({ home: plain.path });
    expect(await said(daemon.home, binaryPath(), "list")).toEqual([64, expect.stringContaining("--with webauthn")]);
  });
});
