// The fake platform takes nothing that the real one refuses: else a channel that sends it would pass here, and fail there.
import type { Json } from "@svc/contract";
import { type Discord, startDiscord } from "@svc/testkit/platforms/discord/server";
import { once } from "node:events";
import { createInflate } from "node:zlib";
import { describe, expect, test } from "vitest";
import { PERSON, soon, TOKEN } from "./fixture.ts";

interface Bench extends AsyncDisposable {
  readonly platform: Discord;
  readonly roomId: string;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

interface Answer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

async function bench(): Promise<Bench> {
  const platform = await startDiscord({ token: TOKEN });
  platform.addUser({ id: PERSON });
  const room = platform.addChannel(platform.addGuild());
  return {
    platform,
    roomId: room.id,
    async ask(method, path, body, headers = {}) {
      const response = await fetch(`${platform.apiUrl}/v10/${path}`, {
        method,
        headers: {
          authorization: `Bot ${TOKEN}`,
          "user-agent": "DiscordBot (https://example.org, 1)",
          "content-type": "application/json",
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, json: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown> };
    },
    [Symbol.asyncDispose]: () => platform.close(),
  };
}

describe("REST", () => {
  test.each([
    ["content that is too long", { content: "x".repeat(2001) }, 50035],
    ["content of another type", { content: 7 }, 50035],
    ["an unknown field", { content: "x", contents: "y" }, 50035],
    ["nothing", { content: " " }, 50006],
    ["a nonce that is too long", { content: "x", nonce: "n".repeat(26) }, 50035],
    ["a mention of an unknown kind", { content: "x", allowed_mentions: { parse: ["all"] } }, 50035],
    ["an answer to nothing", { content: "x", message_reference: { message_id: "7" } }, 50035],
    ["an id that is none", { content: "x", message_reference: { message_id: "seven" } }, 50035],
    ["a label that is too long", { content: "x", components: rows({ label: "l".repeat(81) }) }, 50035],
    ["a custom id that is too long", { content: "x", components: rows({ custom_id: "c".repeat(101) }) }, 50035],
    ["two buttons of one id", { content: "x", components: [...rows({}), ...rows({})] }, 50035],
    ["attachments without files", { content: "x", attachments: [{ id: 0, filename: "a" }] }, 50035],
    ["a body that is no JSON", "{", 50109],
  ])("refuses %s", async (_, body, code) => {
    await using at = await bench();
    const answer = await at.ask("POST", `channels/${at.roomId}/messages`, body);
    expect([answer.status, answer.json["code"]]).toEqual([400, code]);
    expect(answer.json["message"]).toEqual(expect.any(String));
    expect(at.platform.sent).toEqual([]);
  });

  test("says where it is wrong", async () => {
    await using at = await bench();
    const { json } = await at.ask("POST", `channels/${at.roomId}/messages`, {
      content: "x",
      allowed_mentions: { parse: 1 },
    });
    expect(json).toMatchObject({
      errors: { allowed_mentions: { parse: { _errors: [{ code: "BASE_TYPE_BAD_TYPE" }] } } },
    });
  });

  test.each([
    ["no token", { authorization: "" }, 401],
    ["another token", { authorization: "Bot other" }, 401],
    ["a token without Bot", { authorization: TOKEN }, 401],
    ["a token of a person", { authorization: `Bearer ${TOKEN}` }, 401],
    ["no user agent of a bot", { "user-agent": "curl/8" }, 403],
  ])("refuses %s", async (_, headers, status) => {
    await using at = await bench();
    expect((await at.ask("GET", "users/@me", undefined, headers)).status).toBe(status);
  });

  test("knows no other paths, methods and versions", async () => {
    await using at = await bench();
    expect((await at.ask("GET", "channels/x")).status).toBe(404);
    expect((await at.ask("DELETE", `channels/${at.roomId}/messages`)).status).toBe(405);
    const old = await fetch(`${at.platform.apiUrl}/v6/users/@me`, { headers: { "user-agent": "DiscordBot (x, 1)" } });
    expect(old.status).toBe(404);
    expect((await at.ask("GET", `channels/${at.roomId}/messages?limit=101`)).json["code"]).toBe(50035);
    expect((await at.ask("GET", `channels/${at.roomId}/messages?since=1`)).json["code"]).toBe(50035);
  });

  test("a nonce that is enforced is taken once, and forgotten after some minutes", async () => {
    await using at = await bench();
    const body = { content: "x", nonce: "n", enforce_nonce: true };
    const send = () => at.ask("POST", `channels/${at.roomId}/messages`, body);
    const [first, again] = [await send(), await send()];
    expect(first.json["id"]).toBe(again.json["id"]);
    at.platform.world.nowMs += 600_000;
    expect((await send()).json["id"]).not.toBe(first.json["id"]);
    await at.ask("POST", `channels/${at.roomId}/messages`, { ...body, enforce_nonce: false });
    expect(at.platform.sent).toHaveLength(3);
  });

  test("a thread once for each message, and only where there are threads", async () => {
    await using at = await bench();
    const { json } = await at.ask("POST", `channels/${at.roomId}/messages`, { content: "x" });
    const path = `channels/${at.roomId}/messages/${String(json["id"])}/threads`;
    expect((await at.ask("POST", path, { name: "" })).json["code"]).toBe(50035);
    expect((await at.ask("POST", path, { name: "n", auto_archive_duration: 61 })).json["code"]).toBe(50035);
    expect(await at.ask("POST", path, { name: "n" })).toMatchObject({ status: 201, json: { id: json["id"] } });
    expect((await at.ask("POST", path, { name: "n" })).json["code"]).toBe(160004);
  });

  test("an interaction is answered once, in three seconds, and for a quarter of an hour", async () => {
    await using at = await bench();
    const { world, useCommand } = at.platform;
    const use = () => useCommand({ userId: PERSON, channelId: at.roomId, name: "new" });
    const answer = ({ id, token }: { id: string; token: string }) =>
      at.ask("POST", `interactions/${id}/${token}/callback`, { type: 5 }, { authorization: "" });
    const first = use();
    const original = `webhooks/${world.applicationId}/${first.token}/messages/@original`;
    expect((await at.ask("PATCH", original, { content: "early" })).json["code"]).toBe(10015);
    expect((await answer(first)).status).toBe(204);
    expect((await answer(first)).json["code"]).toBe(40060);
    expect((await at.ask("PATCH", original, { content: "x" })).status).toBe(200);
    const late = use();
    world.nowMs += 3_001;
    expect((await answer(late)).json["code"]).toBe(10062);
    world.nowMs += 900_000;
    expect((await at.ask("PATCH", original, { content: "late" })).json["code"]).toBe(50027);
  });
});

function rows(more: object): Json[] {
  return [{ type: 1, components: [{ type: 2, style: 1, label: "l", custom_id: "c", ...more }] }];
}

describe("the gateway", () => {
  /** Sends these frames after hello; resolves with the code that it is closed with. */
  async function closeCode(
    platform: Discord,
    frames: readonly unknown[],
    query = "v=10&encoding=json",
  ): Promise<number> {
    const socket = new WebSocket(`${platform.url.replace("http", "ws")}/?${query}`);
    let waiting = frames;
    socket.addEventListener("message", () => {
      const now = waiting;
      waiting = [];
      for (const frame of now) socket.send(typeof frame === "string" ? frame : JSON.stringify(frame));
    });
    const [event] = (await once(socket as unknown as EventTarget as never, "close")) as [CloseEvent];
    return event.code;
  }
  const identify = (more: object = {}) => ({
    op: 2,
    d: { token: TOKEN, intents: 1, properties: { os: "a", browser: "b", device: "c" }, ...more },
  });

  test.each([
    ["a frame that is no JSON", ["{"], 4002],
    ["an unknown opcode", [{ op: 99, d: null }], 4001],
    ["a frame of more than 4096 bytes", [identify({ token: "x".repeat(5000) })], 4002],
    ["an identify without intents", [identify({ intents: undefined })], 4002],
    ["an identify without properties", [identify({ properties: undefined })], 4002],
    ["another token", [identify({ token: "other" })], 4004],
    ["intents that there are not", [identify({ intents: 1 << 19 })], 4013],
    ["a shard beyond their number", [identify({ shard: [1, 1] })], 4010],
    ["two identifies", [identify(), identify()], 4005],
    ["something else before it", [{ op: 3, d: {} }], 4003],
    ["a heartbeat of the future", [identify(), { op: 1, d: 99 }], 4007],
  ])("closes on %s", async (_, frames, code) => {
    await using at = await bench();
    expect(await closeCode(at.platform, frames)).toBe(code);
  });

  test("resumes what it told, from where it is asked to, and nothing of the future", async () => {
    await using at = await bench();
    expect(await closeCode(at.platform, [identify(), { op: 1, d: 99 }])).toBe(4007);
    const resume = (seq: number, token = TOKEN) => ({ op: 6, d: { token, session_id: "session-1", seq } });
    expect(await closeCode(at.platform, [resume(9)])).toBe(4007);
    expect(await closeCode(at.platform, [resume(1, "other")])).toBe(4004);
    const socket = new WebSocket(`${at.platform.url.replace("http", "ws")}/resume?v=10&encoding=json`);
    const told: unknown[] = [];
    socket.addEventListener("message", ({ data }) => {
      const { op, t, s } = JSON.parse(String(data)) as { op: number; t: string; s: number };
      if (op === 10) socket.send(JSON.stringify(resume(1)));
      else told.push([t, s]);
    });
    await soon(() => told.length === 2);
    expect(told).toEqual([
      ["GUILD_CREATE", 2],
      ["RESUMED", 3],
    ]);
    socket.close();
  });

  test("closes on another version, and on the privileged intent where that is off", async () => {
    await using at = await bench();
    expect(await closeCode(at.platform, [], "v=6&encoding=json")).toBe(4012);
    at.platform.gateway.rules.mayReadContent = false;
    expect(await closeCode(at.platform, [identify({ intents: 1 << 15 })])).toBe(4014);
    at.platform.gateway.rules.needsSharding = true;
    expect(await closeCode(at.platform, [identify()])).toBe(4011);
  });

  test("closes a connection that does not beat", async () => {
    await using at = await bench();
    at.platform.gateway.rules.heartbeatMs = 1;
    expect(await closeCode(at.platform, [identify()])).toBe(4000);
  });

  test("compresses only for who asks, all of a connection as one stream", async () => {
    await using at = await bench();
    const socket = new WebSocket(`${at.platform.url.replace("http", "ws")}/?v=10&encoding=json&compress=zlib-stream`);
    socket.binaryType = "arraybuffer";
    const inflate = createInflate();
    let text = "";
    inflate.on("data", (chunk: Buffer) => (text += chunk.toString("utf8")));
    socket.addEventListener("message", ({ data }) => void inflate.write(Buffer.from(data as ArrayBuffer)));
    socket.addEventListener("message", () => socket.send(JSON.stringify(identify())), { once: true });
    await soon(() => text.includes("GUILD_CREATE"));
    expect(text).toContain('"op":10');
    socket.close();
  });
});
