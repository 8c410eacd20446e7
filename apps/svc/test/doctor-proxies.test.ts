// A proxy that hides who is calling makes the whole world local, and nobody notices: doctor is who should.
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { describe, expect, test } from "vitest";
import { homeWith } from "./daemon.ts";
import { doctor, levels, of } from "./doctor-report.ts";

describe("public_url and proxies", () => {
  /** A reverse proxy to a port that is known later. */
  async function proxy(headers: Record<string, string>): Promise<Server & { target: string; url: string }> {
    const server = createServer((incoming, outgoing) => {
      const options = { method: incoming.method, headers: { ...incoming.headers, ...headers } };
      const onward = request(new URL(incoming.url ?? "/", found.target), options, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on("error", () => outgoing.writeHead(502).end());
      incoming.pipe(onward);
    });
    const found = Object.assign(server, { target: "http://127.0.0.1:1", url: "" });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    found.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return found;
  }

  test("leads here, or somewhere else; a proxy without a forwarding header makes everybody local", async () => {
    const front = await proxy({});
    using home = homeWith(`[gateway]\npublic_url = "${front.url}"\n`);
    await using daemon = await startBinary({ home: home.path });
    const astray = await doctor(home.path, ["--security"]);
    expect(of(astray, "public-url-leads-here")).toMatchObject([{ level: "warning", message: /502/ }]);
    expect(levels(astray, "public-url")).toEqual(["warning"]);
    front.target = daemon.url;
    const report = await doctor(home.path, ["--security"]);
    expect(levels(report, "public-url-leads-here")).toEqual(["ok"]);
    expect(levels(report, "proxy-headers")).toEqual(["warning"]);
    expect(levels(report, "local-paths")).toEqual(["error"]);
    expect(levels(report, "forwarded-headers")).toEqual(["ok"]);
    front.close();
    front.closeAllConnections();
    const closed = await doctor(home.path);
    expect(of(closed, "public-url-leads-here")).toMatchObject([{ level: "warning", message: /ECONNREFUSED/ }]);
  });

  test("a proxy that says who is calling keeps others from what is for this machine", async () => {
    const front = await proxy({ "x-forwarded-for": "203.0.113.9" });
    using home = homeWith(`[gateway]\npublic_url = "${front.url}"\ntrust_forwarded_headers = true\n`);
    await using daemon = await startBinary({ home: home.path });
    front.target = daemon.url;
    const report = await doctor(home.path, ["--security"]);
    front.close();
    front.closeAllConnections();
    expect([levels(report, "local-paths"), levels(report, "proxy-headers")]).toEqual([["ok"], []]);
  });

  test("forwarding headers that come while they are not trusted are an error", async () => {
    await using daemon = await startBinary();
    await daemon.request("/webhook", { headers: { "X-Forwarded-For": "203.0.113.9" }, body: { message: "x" } });
    const report = await doctor(daemon.home);
    expect(of(report, "forwarded-headers")).toMatchObject([
      { level: "error", fix: expect.stringContaining("trust_forwarded_headers") },
    ]);
    expect(report.code).toBe(1);
  });
});
