// A request has one path for every check. With a second spelling of `/api`, rules of a proxy in front that keep strangers
// from it by the path as it is written kept nobody out.
import { describe, expect, test } from "vitest";
import { channelWith, delivery } from "./channel.ts";
import { Harness } from "./harness.ts";
import { codeOf, raw, statusOf } from "./http.ts";
import { upgradeBytes } from "./socket-fixture.ts";

async function started() {
  const harness = new Harness();
  const token = harness.device("operator");
  harness.sops.paths.set("/build/done", { runs: [], skipped: [] });
  await harness.start({ ingress: [channelWith()], config: { webhook_rate_limit_per_minute: 1 } });
  const ask = async (target: string, method = "GET", body = ""): Promise<unknown[]> => {
    const lines = [
      `${method} ${target} HTTP/1.1`,
      "Host: localhost",
      "Connection: close",
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
    ];
    const response = await raw(harness, `${lines.join("\r\n")}\r\n\r\n${body}`);
    return [statusOf(response), codeOf(response)];
  };
  return { harness, token, ask };
}

const NOT_FOUND = [404, "NOT_FOUND"];

describe("a path with an escape that it does not need", () => {
  test.each([
    "/%61pi/status",
    "/api/%73tatus",
    "/api%2fstatus",
    "/api/status%2e",
    "/api/sessions/%41",
    "/api/sess%69ons/x/messages",
    "/api/sop-runs/%7Ex",
    "http://localhost/%61pi/status",
    "HTTP://LOCALHOST/api/%73tatus?x=1",
    "/%6fpenapi.json",
    "/%68ealth",
    "/%6Detrics",
    "/%2F",
  ])("%s is nobody's", async (target) => {
    const { ask } = await started();
    expect(await ask(target)).toEqual(NOT_FOUND);
  });

  test("runs no turn, starts no procedure, posts no event, and uses up no limit", async () => {
    const { harness, ask } = await started();
    for (const path of ["/%77ebhook", "/build/%64one", "/api/channel-event%73", "/%70air", "/pr%6Fvider-a"])
      for (const target of [path, `http://localhost${path}`])
        expect([target, await ask(target, "POST", '{"message":"hi","type":"x"}')]).toEqual([target, NOT_FOUND]);
    expect([harness.turns, harness.sops.started, harness.channelEvents.posted, harness.arrivals]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect(await ask("/webhook", "POST", '{"message":"hi"}')).toEqual([200, undefined]);
  });

  test.each(["/%77s", "/w%73?x=1", "http://localhost/%77s", "/ws/", "//ws", "/./ws"])(
    "opens no WebSocket: %s",
    async (target) => {
      const { harness, token } = await started();
      const text = await raw(harness, upgradeBytes(`Authorization: Bearer ${token}\r\nConnection: close\r\n`, target));
      expect([statusOf(text), codeOf(text)]).toEqual(NOT_FOUND);
    },
  );
});

describe("a path that another reader would make /api/status of", () => {
  test.each([
    "/api//status",
    "//api/status",
    "/api/status/",
    "/api;x=1/status",
    "/api/status;x=1",
    "/;/api/status",
    "/api/status%00",
    "/api/status%20",
    "/api/status%3F",
    "/%ff/../api/status",
    "/api/status%zz",
    "/api/%",
    "/%c0%af/api/status",
    "/x/..%2fapi/status",
    "/x/..%5capi/status",
    "/API/status",
    "http://localhost//api/status",
    "http://localhost/x/../api/status",
    "http://localhost\\api/status",
  ])("%s is not", async (target) => {
    const { ask } = await started();
    expect([
      [404, "NOT_FOUND"],
      [400, "BAD_REQUEST"],
      [403, "BAD_HOST"],
    ]).toContainEqual(await ask(target));
  });

  test("by a fragment, which no client sends, is not either", async () => {
    const { ask } = await started();
    for (const target of ["/api/status#x", "/api/status#?x=1", "http://localhost/api/status#x", "/#/../api/status"])
      expect([target, (await ask(target))[0]]).toEqual([target, expect.toBeOneOf([400, 404])]);
  });
});

describe("an absolute target", () => {
  test("leads where its path does, with the query", async () => {
    const { ask } = await started();
    expect(await ask("http://localhost/api/status")).toEqual([200, undefined]);
    expect(await ask("http://localhost/api/sessions?limit=0")).toEqual([400, "BAD_REQUEST"]);
    expect(await ask("http://localhost/api/sessions?limit=1")).toEqual([200, undefined]);
  });

  test("opens a WebSocket as its path does, and by no name of others", async () => {
    const { harness } = await started();
    const of = async (target: string): Promise<unknown[]> => {
      const text = await raw(harness, upgradeBytes("", target));
      return [statusOf(text), codeOf(text)];
    };
    expect(await of("http://localhost/ws")).toEqual([401, "UNAUTHORIZED"]);
    expect(await of("http://evil.example/ws")).toEqual([403, "BAD_HOST"]);
  });
});

test("an id may have any escape that it needs", async () => {
  const { ask } = await started();
  for (const id of ["a%2Fb", "a%20b", "%C3%A9", "%252e%252e", "..%2F..", "%7B%7D", "a:b@c;d=e"])
    expect([id, await ask(`/api/sessions/${id}`)]).toEqual([id, [404, "SESSION_UNKNOWN"]]);
});

test("a channel's own path takes deliveries, with any query", async () => {
  const { harness } = await started();
  const { headers, body } = delivery();
  const sent = Object.entries({ ...headers, "content-length": String(Buffer.byteLength(String(body))) });
  const lines = ["POST /provider-a?x=%61 HTTP/1.1", "Host: any", "Connection: close"];
  for (const [name, value] of sent) lines.push(`${name}: ${String(value)}`);
  expect(statusOf(await raw(harness, `${lines.join("\r\n")}\r\n\r\n${String(body)}`))).toBe(200);
});
