// Paired devices: listed, renamed, and revoked in a way that holds whatever the disk says.
import { type ClientId, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { call, statusOf, tick, until, Wire } from "./http.ts";
import { sessionInfo } from "./harness.ts";
import { started } from "./paired.ts";

describe("the list", () => {
  test("tells who may come in and which one asks, and no identity and no hash", async () => {
    const { gateway, list } = await started();
    gateway.devices[1] = { ...gateway.devices[1]!, lastSeenAt: 1000 };
    expect(await list()).toEqual([
      {
        id: "dev-operator",
        name: "operator",
        scope: "operator",
        created_at: "1970-01-01T00:00:00.000Z",
        last_seen_at: null,
        current: true,
        sessions: [],
      },
      {
        id: "dev-read",
        name: "read",
        scope: "read",
        created_at: "1970-01-01T00:00:00.000Z",
        last_seen_at: "1970-01-01T00:00:01.000Z",
        current: false,
        sessions: [],
      },
      expect.objectContaining({ id: "dev-lost", current: false }),
    ]);
    expect(JSON.stringify(await list())).not.toMatch(/client-|[0-9a-f]{64}/);
  });

  test("is an operator's, and so is revoking", async () => {
    const { gateway, tokens, as, revoke } = await started();
    expect((await call(gateway, { path: "/api/devices", headers: as(tokens.read) })).json.code).toBe("FORBIDDEN_SCOPE");
    expect((await revoke("dev-lost", tokens.read)).json.code).toBe("FORBIDDEN_SCOPE");
    expect(gateway.devices).toHaveLength(3);
  });
});

describe("a revoked device", () => {
  test("is out with the next request, off the list and off the disk; nobody else is", async () => {
    const { gateway, tokens, revoke, status, list } = await started();
    expect((await revoke("dev-lost")).json).toEqual({ id: "dev-lost", revoked: true });
    expect([await status(tokens.lost), await status(tokens.operator), await status(tokens.read)]).toEqual([
      401, 200, 200,
    ]);
    expect((await list()).map(({ id }: { id: string }) => id)).toEqual(["dev-operator", "dev-read"]);
    expect(gateway.devices).toHaveLength(2);
    expect(gateway.gone).toEqual(["client-lost"]);
    expect(await revoke("dev-lost")).toMatchObject({ status: 404, json: { code: "DEVICE_UNKNOWN" } });
  });

  test("is out before the disk has answered", async () => {
    const { gateway, tokens, revoke, status } = await started();
    const disk = Promise.withResolvers<void>();
    gateway.slowRemove = disk.promise;
    let isDone = false;
    const revoked = revoke("dev-lost").then((answer) => ((isDone = true), answer));
    await until(() => gateway.gateway.connections === 1);
    await tick();
    expect([await status(tokens.lost), isDone]).toEqual([401, false]);
    disk.resolve();
    expect((await revoked).status).toBe(200);
  });

  test("that can't be taken off the disk is out all the same; it is said, still listed, and tried again until it is done", async () => {
    const { gateway, tokens, revoke, status, list } = await started();
    gateway.failRemove = new SvcError("STORE_FULL");
    const answer = await revoke("dev-lost");
    expect([answer.status, answer.json.code]).toEqual([503, "STORE_FULL"]);
    expect(answer.json.error).toContain("a restart would let it in again");
    expect([await status(tokens.lost), (await list()).length]).toEqual([401, 3]);
    expect((await revoke("dev-lost")).status).toBe(503);
    await gateway.clock.advance(30_000);
    expect(gateway.devices).toHaveLength(3);
    gateway.failRemove = undefined;
    await gateway.clock.advance(30_000);
    await until(() => gateway.devices.length === 2);
    expect((await list()).length).toBe(2);
    expect(gateway.log.text().match(/a revoked device is shut out/g)).toHaveLength(1);
  });

  test("stands in the way of a restart as long as the next start would not know of it", async () => {
    const { gateway, revoke } = await started();
    const successor = (): Promise<void> => gateway.gateway.checkSuccessor(gateway.config);
    await successor();
    gateway.failRemove = new SvcError("STORE_FULL");
    await revoke("dev-lost");
    await expect(successor()).rejects.toMatchObject({ code: "STORE_FAILED" });
    gateway.failRemove = undefined;
    await gateway.clock.advance(30_000);
    await until(() => gateway.devices.length === 2);
    await successor();
  });

  test("that is still on the disk when the service stops is told of once more", async () => {
    const { gateway, revoke } = await started();
    gateway.failRemove = new Error("EIO");
    expect((await revoke("dev-lost")).json.code).toBe("STORE_FAILED");
    await gateway.gateway.close(0);
    expect(gateway.log.text().match(/a revoked device is shut out/g)).toHaveLength(2);
  });

  test("may be the one that asks: it is told, and then its connection ends", async () => {
    const { gateway, tokens, status } = await started();
    const wire = new Wire(gateway);
    wire.write(
      `DELETE /api/devices/dev-operator HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tokens.operator}\r\n\r\n`,
    );
    const text = await wire.closed;
    expect([statusOf(text), /connection: close/i.test(text)]).toEqual([200, true]);
    expect([await status(tokens.operator), await status(tokens.lost)]).toEqual([401, 200]);
  });

  test("asked for by many at once is revoked once", async () => {
    const { gateway, revoke } = await started();
    const answers = await Promise.all(Array.from({ length: 20 }, () => revoke("dev-lost")));
    // Who comes when it is done finds nobody.
    expect(answers.filter(({ status }) => status !== 200 && status !== 404)).toEqual([]);
    expect(gateway.log.text().match(/a device was revoked/g)).toHaveLength(1);
  });
});

describe("for the control socket", () => {
  test("a device is renamed, on disk and wherever it is shown; a name that would steer a terminal is refused", async () => {
    const { gateway, tokens, as, list } = await started();
    const { devices } = gateway.gateway;
    expect(await devices.rename("dev-read", " wall display ")).toBe(true);
    expect((await list())[1].name).toBe("wall display");
    gateway.sessions.push(sessionInfo({ id: "1", clientId: "client-read" as ClientId, name: "s" }));
    const { json } = await call(gateway, { path: "/api/sessions", headers: as(tokens.operator) });
    expect(json.sessions[0].device).toEqual({ id: "dev-read", name: "wall display" });
    expect(await devices.rename("nobody", "x")).toBe(false);
    await expect(devices.rename("dev-read", "\u001b[2J")).rejects.toMatchObject({ code: "BAD_REQUEST" });
    await expect(devices.rename("dev-read", " ")).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  test("an operator renames over HTTP; nobody else does, and no name that would steer a terminal passes", async () => {
    const { gateway, tokens, as, list } = await started();
    const rename = (name: unknown, id = "dev-read", token = tokens.operator) =>
      call(gateway, {
        method: "PUT",
        path: `/api/devices/${id}/name`,
        headers: { ...as(token), "content-type": "application/json" },
        body: JSON.stringify({ name }),
      });
    expect(await rename(" wall display ")).toMatchObject({
      status: 200,
      json: { id: "dev-read", name: "wall display" },
    });
    expect((await list())[1].name).toBe("wall display");
    expect((await rename("x", "nobody")).json.code).toBe("DEVICE_UNKNOWN");
    expect((await rename("x", "dev-read", tokens.read)).json.code).toBe("FORBIDDEN_SCOPE");
    for (const name of ["\u001b[2J", " ", "", 7, "a".repeat(65)]) {
      expect((await rename(name)).json.code).toBe("BAD_REQUEST");
    }
    expect((await list())[1].name).toBe("wall display");
  });

  test("a name given while the device is being revoked brings nobody back", async () => {
    const { gateway, tokens, status } = await started();
    const { devices } = gateway.gateway;
    await Promise.all([devices.revoke("dev-lost"), devices.rename("dev-lost", "found")]);
    expect(await status(tokens.lost)).toBe(401);
    expect(devices.list().map(({ id }) => id)).not.toContain("dev-lost");
    expect(await devices.revoke("dev-lost")).toBe(false);
  });
});
