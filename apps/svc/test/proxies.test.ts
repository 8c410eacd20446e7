// A page that says "put this in front" is believed: one wrong header there and every visitor is the proxy, or is local.
import { createServer, type IncomingHttpHeaders } from "node:http";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isLocalOnly } from "@svc/gateway";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { requireReal } from "@svc/testkit/require-real";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { installed, NAME, type Proxy, startProxy } from "./proxy-fixture.ts";

const KINDS = ["caddy", "nginx"] as const;

describe.each(KINDS)("behind %s as the guide sets it up, with TLS", (kind) => {
  test("the daemon answers, takes messages, and tells its visitors apart", async (context) => {
    need(kind, context);
    using home = disposableHome();
    writeFileSync(
      join(home.path, "config.toml"),
      `[gateway]\npublic_url = "https://${NAME}"\ntrust_forwarded_headers = true\n`,
    );
    await using daemon = await startBinary({ home: home.path });
    await using proxy = await startProxy(kind, new URL(daemon.url).host);
    const { instance } = (await (await daemon.request("/health")).json()) as { instance: string };
    expect(JSON.parse((await proxy.send("/health")).text)).toMatchObject({ status: "ok", instance });

    const token = await daemon.pair();
    const message = { "content-type": "application/json", authorization: `Bearer ${token}` };
    const answered = await proxy.send("/webhook", { method: "POST", headers: message, body: '{"message":"hello"}' });
    expect(answered).toMatchObject({ status: 200 });
    expect(JSON.parse(answered.text)).toMatchObject({ response: expect.stringContaining("hello") });

    const large = JSON.stringify({ message: "x".repeat(1_500_000) });
    const refused = await proxy.send("/webhook", { method: "POST", headers: message, body: large });
    expect([refused.status, refused.text]).toEqual([413, expect.stringContaining("TOO_LARGE")]);

    // Whatever a visitor says of himself, the proxy's own word comes last: five wrong codes lock him out, not the next one.
    for (const spoofed of ["203.0.113.1", "203.0.113.2", "203.0.113.3", "203.0.113.4", "203.0.113.5", "203.0.113.6"]) {
      const headers = { "x-pairing-code": "000000", "x-forwarded-for": spoofed };
      await proxy.send("/pair", { method: "POST", headers });
    }
    const locked = await proxy.send("/pair", { method: "POST", headers: { "x-pairing-code": "000000" } });
    expect(locked.status).toBe(429);
    const direct = await daemon.request("/pair", { method: "POST", headers: { "x-pairing-code": "000000" } });
    expect(direct.status).not.toBe(429);
  });

  test("a name that the config does not know is refused", async (context) => {
    need(kind, context);
    using home = disposableHome();
    writeFileSync(join(home.path, "config.toml"), `[gateway]\ntrust_forwarded_headers = true\n`);
    await using daemon = await startBinary({ home: home.path });
    await using proxy = await startProxy(kind, new URL(daemon.url).host);
    expect(JSON.parse((await proxy.send("/api/status")).text)).toMatchObject({ code: "BAD_HOST" });
    expect((await proxy.send("/health")).status).toBe(200);
  });

  test("what is for programs on this machine is refused to whoever comes by it, and not to them", async (context) => {
    need(kind, context);
    using home = disposableHome();
    const url = `public_url = "https://${NAME}"\n`;
    for (const trust of [true, false]) {
      writeFileSync(join(home.path, "config.toml"), `[gateway]\n${url}trust_forwarded_headers = ${trust}\n`);
      await using daemon = await startBinary({ home: home.path });
      await using proxy = await startProxy(kind, new URL(daemon.url).host);
      const headers = { "content-type": "application/json" };
      const event = { method: "POST", headers, body: JSON.stringify({ type: "build-done" }) };
      for (const spoofed of [{}, { "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }, { via: "" }]) {
        const answer = await proxy.send("/api/channel-events", { ...event, headers: { ...headers, ...spoofed } });
        expect([answer.status, JSON.parse(answer.text).code]).toEqual([403, "NOT_LOCAL"]);
      }
      const direct = await fetch(new URL("/api/channel-events", daemon.url), event);
      expect([direct.status, await direct.json()]).toMatchObject([200, { ok: true, skipped: [] }]);
    }
  });

  test("what it passes on never looks like a program of this machine", async (context) => {
    need(kind, context);
    const seen: IncomingHttpHeaders[] = [];
    const peers: string[] = [];
    const recorder = createServer((incoming, outgoing) => {
      seen.push(incoming.headers);
      peers.push(incoming.socket.remoteAddress ?? "");
      outgoing.end("{}");
    });
    await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
    const { port } = recorder.address() as { port: number };
    try {
      await using proxy: Proxy = await startProxy(kind, `127.0.0.1:${port}`);
      seen.length = 0;
      peers.length = 0;
      await proxy.send("/api/channel-events", { method: "POST", body: "{}" });
      await proxy.send("/api/channel-events", {
        method: "POST",
        body: "{}",
        headers: { "x-forwarded-for": "127.0.0.1" },
      });
    } finally {
      recorder.close();
      recorder.closeAllConnections();
    }
    expect(peers).toEqual(["127.0.0.1", "127.0.0.1"]);
    const rules = { allowsOrigin: () => true };
    expect(seen.map((headers) => isLocalOnly({ peerAddress: "127.0.0.1", headers }, rules))).toEqual([false, false]);
    // The gate would let the same request in without the headers that the proxy has added.
    expect(isLocalOnly({ peerAddress: "127.0.0.1", headers: { host: "localhost" } }, rules)).toBe(true);
  });
});

function need(kind: (typeof KINDS)[number], context: Parameters<typeof requireReal>[0]): void {
  if (!installed(kind)) requireReal(context, { name: kind, reason: `${kind} is not on PATH; apt-get install ${kind}` });
}

function disposableHome() {
  const home = temporaryHome();
  return { path: home.path, [Symbol.dispose]: () => home.remove() };
}
