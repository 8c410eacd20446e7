// A passkey is as good as a token, in the real binary: it signs in, over kills, and is gone when it is removed or its device is.
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { evaluatedInto, readEvaluated } from "@svc/testkit/binary/evaluated";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import type { RunningBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { SoftAuthenticator } from "@svc/testkit/webauthn/authenticator";
import { describe, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";
import {
  addPasskey,
  ask,
  BEARER_ONLY,
  listed,
  originOf,
  pairAnother,
  proofOf,
  prove,
  SIGN_IN,
  startAll,
  svc,
} from "./passkey-fixture.ts";

const LIBRARY = "@simplewebauthn/server";

describe("signing in", () => {
  test("a page becomes the passkey's device, over a kill, until the passkey is removed", async () => {
    using home = homeWith(SIGN_IN);
    const first = await startAll(home.path);
    const token = await first.pair();
    const phone = new SoftAuthenticator();
    const added = await addPasskey(first, { token }, phone);
    expect(added).toMatchObject({ status: 201, body: { user_id: "ann", name: "Passkey 1", suspect: false } });
    const early = await proofOf(first, phone);
    await first.kill9();

    await using daemon = await startAll(home.path);
    // Begun before the kill: it says to begin again.
    expect(await prove(daemon, early)).toMatchObject({
      status: 410,
      body: { code: "PASSKEY_EXPIRED" },
      page: undefined,
    });
    const { status, body, page } = await prove(daemon, await proofOf(daemon, phone));
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        verified: true,
        credential_id: added.body["id"],
        user_id: "ann",
        csrf: expect.any(String) as string,
        device: { id: expect.any(String) as string, name: expect.any(String) as string, scope: "operator" },
      },
    });
    const devices = await ask(daemon, "GET", "devices", { page: page! });
    expect(devices.body["devices"]).toMatchObject([{ current: true }]);
    expect((await ask(daemon, "GET", "webauthn/credentials", { page: page! })).body["credentials"]).toHaveLength(1);

    expect(await ask(daemon, "GET", "webauthn/credentials?user_id=ben", { token })).toMatchObject({
      status: 200,
      body: { credentials: [] },
    });

    const path = `webauthn/credentials/${String(added.body["id"])}?user_id=ann`;
    expect(await ask(daemon, "DELETE", path, { page: page! })).toMatchObject({
      status: 403,
      body: { code: "PASSKEY_LAST" },
    });
    expect(await ask(daemon, "DELETE", path, { token })).toMatchObject({ status: 200, body: { removed: true } });
    expect(await prove(daemon, await proofOf(daemon, phone))).toMatchObject({
      status: 404,
      body: { code: "PASSKEY_UNKNOWN" },
      page: undefined,
    });
  });

  test("a proof that comes again, is odd or comes from elsewhere signs nobody in", async () => {
    using home = homeWith(SIGN_IN);
    await using daemon = await startAll(home.path);
    const token = await daemon.pair();
    const phone = new SoftAuthenticator();
    await addPasskey(daemon, { token }, phone);
    const proof = await proofOf(daemon, phone);
    const both = await Promise.all([prove(daemon, proof), prove(daemon, proof)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 410]);
    expect((await prove(daemon, proof)).status).toBe(410);
    const tampered = await proofOf(daemon, phone);
    tampered.response.signature = `${tampered.response.signature.slice(0, -8)}AAAAAAAA`;
    expect(await prove(daemon, tampered)).toMatchObject({ status: 403, body: { code: "PASSKEY_REFUSED" } });
    for (const body of [{}, { ...proof, id: 5 }, { ...proof, response: null }, { ...proof, type: "password" }]) {
      expect((await ask(daemon, "POST", "webauthn/auth/finish", {}, body)).status).toBe(400);
    }
    const deep = `${'{"a":'.repeat(500)}1${"}".repeat(500)}`;
    for (const [body, status] of [
      ["{", 400],
      [deep, 400],
      [JSON.stringify({ ...proof, id: "A".repeat(70_000) }), 413],
    ] as const) {
      const headers = { origin: originOf(daemon), "content-type": "application/json" };
      const answer = await daemon.request("/api/webauthn/auth/finish", { method: "POST", headers, body });
      expect(answer.status).toBe(status);
    }
    const elsewhere = await daemon.request("/api/webauthn/auth/start", {
      method: "POST",
      headers: { origin: "https://evil.example" },
      body: {},
    });
    expect(elsewhere.status).toBe(403);
  });

  test("a stranger who begins again and again is told to wait; a device is not held up", async () => {
    using home = homeWith(SIGN_IN);
    await using daemon = await startAll(home.path);
    const token = await daemon.pair();
    const phone = new SoftAuthenticator();
    await addPasskey(daemon, { token }, phone);
    const begun = await proofOf(daemon, phone);
    const flood = await Promise.all(
      Array.from({ length: 200 }, () => ask(daemon, "POST", "webauthn/auth/start", {}, {})),
    );
    const statuses = new Set(flood.map(({ status }) => status));
    expect([...statuses].toSorted()).toEqual([200, 429]);
    expect(flood.filter(({ status }) => status === 200).length).toBeLessThan(31);
    // What this client may ask for without a token is used up for the moment.
    expect((await prove(daemon, begun)).status).toBe(429);
    expect((await ask(daemon, "GET", "webauthn/credentials", { token })).body["credentials"]).toHaveLength(1);
  });

  test("a reload that makes passkeys anew ends what was begun, and keeps the passkeys", async () => {
    using home = homeWith(SIGN_IN);
    await using daemon = await startAll(home.path);
    const token = await daemon.pair();
    const phone = new SoftAuthenticator();
    await addPasskey(daemon, { token }, phone);
    const begun = await proofOf(daemon, phone);
    expect((await svc(home.path, "config", "set", "security.webauthn.rp_name", "The agent")).stdout).toContain(
      "webauthn",
    );
    expect(await prove(daemon, begun)).toMatchObject({ status: 410, body: { code: "PASSKEY_EXPIRED" } });
    expect((await prove(daemon, await proofOf(daemon, phone))).status).toBe(200);
    expect((await svc(home.path, "config", "set", "security.webauthn.sign_in", "false")).code).toBe(0);
    expect((await ask(daemon, "POST", "webauthn/auth/start", {}, {})).status).toBe(401);
    expect((await svc(home.path, "config", "set", "security.webauthn.enabled", "false")).code).toBe(0);
    expect(await ask(daemon, "POST", "webauthn/auth/start", { token }, {})).toMatchObject({
      status: 404,
      body: { code: "NOT_CONFIGURED", error: expect.stringContaining("enabled = true") as string },
    });
  });

  test("a revoked device's passkey is nobody's, and its user_id is free", async () => {
    using home = homeWith(SIGN_IN);
    await using daemon = await startAll(home.path);
    const [old, token] = [await daemon.pair(), await pairAnother(daemon, home.path)];
    const phone = new SoftAuthenticator();
    await addPasskey(daemon, { token: old }, phone, "boss");
    const taken = await ask(daemon, "POST", "webauthn/register/start", { token }, { user_id: "boss", user_name: "B" });
    expect(taken).toMatchObject({ status: 404, body: { code: "PASSKEY_UNKNOWN" } });
    const { page } = await prove(daemon, await proofOf(daemon, phone));
    const { body } = await ask(daemon, "GET", "devices", { page: page! });
    const mine = (body["devices"] as { id: string; current: boolean }[]).find(({ current }) => current);
    await ask(daemon, "DELETE", `devices/${mine!.id}`, { token });
    expect((await prove(daemon, await proofOf(daemon, phone))).status).toBe(404);
    expect((await addPasskey(daemon, { token }, new SoftAuthenticator(), "boss")).status).toBe(201);
    expect((await listed(home.path)).map(({ user_id }) => user_id)).toEqual(["boss"]);
  });
});

describe("without sign_in", () => {
  test("every path wants a bearer that may read", async () => {
    using home = homeWith(BEARER_ONLY);
    await using daemon = await startAll(home.path);
    const [token, program] = [await daemon.pair(), await pairAnother(daemon, home.path, "webhook")];
    const paths = [
      ["POST", "register/start"],
      ["POST", "register/finish"],
      ["POST", "auth/start"],
      ["POST", "auth/finish"],
      ["GET", "credentials?user_id=ann"],
      ["PUT", "credentials/AAAA/name"],
      ["DELETE", "credentials/AAAA?user_id=ann"],
    ] as const;
    for (const [as, status] of [
      [{}, 401],
      [{ token: "svc_made_up" }, 401],
      [{ token: program }, 403],
    ] as const) {
      const answers = await Promise.all(paths.map(([method, path]) => ask(daemon, method, `webauthn/${path}`, as)));
      expect(answers.map((answer) => answer.status)).toEqual(paths.map(() => status));
    }
    const phone = new SoftAuthenticator();
    const { body } = await addPasskey(daemon, { token }, phone);
    const answer = await prove(daemon, await proofOf(daemon, phone, { token }), { token });
    expect(answer).toEqual({
      status: 200,
      body: { verified: true, credential_id: body["id"], user_id: "ann" },
      page: undefined,
    });
  });
});

describe("what is kept", () => {
  test("is sealed, and stands in no line of the log", async () => {
    using home = homeWith(SIGN_IN);
    const daemon = await startAll(home.path);
    const token = await daemon.pair();
    const phone = new SoftAuthenticator();
    await addPasskey(daemon, { token }, phone, "ann.author@example.org");
    const proof = await proofOf(daemon, phone);
    const { page } = await prove(daemon, proof);
    await prove(daemon, proof);
    await daemon.stop();
    const { cose } = phone.credentials[0]!.key;
    const files = ["state", "logs"].flatMap((folder) =>
      readdirSync(join(home.path, folder)).map((name) => readFileSync(join(home.path, folder, name), "latin1")),
    );
    const texts = [...files, daemon.output()].join("\n");
    expect(texts).toContain("a passkey was added");
    const secrets = [
      cose.toString("base64url"),
      cose.toString("latin1"),
      proof.response.signature,
      page!["x-svc-csrf"]!,
    ];
    for (const secret of [...secrets, "ann.author"]) expect(texts).not.toContain(secret);
  });

  test("survives a new key, and goes with a backup into another home", async () => {
    using home = homeWith(SIGN_IN);
    using other = temporaryHome();
    const first = await startAll(home.path);
    const phone = new SoftAuthenticator();
    await addPasskey(first, { token: await first.pair() }, phone);
    expect((await svc(home.path, "secrets", "rotate")).code).toBe(0);
    const file = join(other.path, "backup.tar.gz");
    expect((await svc(home.path, "backup", file)).code).toBe(0);
    await first.stop();
    const restored = join(other.path, "home");
    mkdirSync(restored);
    expect(await svc(restored, "restore", file, "--yes")).toMatchObject({ code: 0 });
    for (const folder of [home.path, restored]) {
      await using daemon = await startAll(folder);
      expect((await prove(daemon, await proofOf(daemon, phone))).status).toBe(200);
    }
  });
});

describe("the library", () => {
  test("is loaded by the first passkey, not by the start, and says nothing of its own", async () => {
    using home = homeWith(SIGN_IN);
    const run = async (folder: string, work: (daemon: RunningBinary) => Promise<unknown>) => {
      mkdirSync(join(home.path, folder));
      const daemon = await startAll(home.path, evaluatedInto(join(home.path, folder)));
      await work(daemon);
      await daemon.stop();
      expect(daemon.output()).not.toMatch(/warning/i);
      return readEvaluated(join(home.path, folder), fullestBinaryPath());
    };
    const idle = await run("idle", async (daemon) => ask(daemon, "POST", "webauthn/auth/start", {}, {}));
    expect(idle.features).toContain("webauthn");
    expect(idle.packages).not.toContain(LIBRARY);
    const used = await run("used", async (daemon) => {
      const token = await pairAnother(daemon, home.path);
      await addPasskey(daemon, { token }, new SoftAuthenticator());
    });
    expect(used.packages).toContain(LIBRARY);
  });
});

test("a config that no browser would take stops nothing else, and says why", async () => {
  using home = homeWith(`[gateway]\npublic_url = "https://203.0.113.5"\n\n${SIGN_IN}`);
  await using daemon = await startAll(home.path);
  expect(await ask(daemon, "POST", "webauthn/auth/start", {}, {})).toMatchObject({ body: { code: "FEATURE_DOWN" } });
  expect((await svc(home.path, "status")).stdout).toMatch(/webauthn: failed .*public_url.*rp_origin/);
  expect((await svc(home.path, "passkeys", "list", "--json")).stderr).toContain("FEATURE_DOWN");
});
