// The proxy is a browser's only way out: what it lets through, and to which address. Over real sockets, with real requests.
import { request as httpRequest } from "node:http";
import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { startGuardingProxy } from "../../src/browser/guarding-proxy.ts";
import {
  basic,
  closeAll,
  closing,
  connectTo,
  echo,
  get,
  portOf,
  proxyFor,
  quiet,
  raw,
  stillClock,
} from "./proxy-fixture.ts";

afterEach(closeAll);

describe("plain http", () => {
  test("goes to the allowed host, without what is for the proxy alone", async () => {
    const port = await echo();
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    const answer = await get(proxy, `http://good.test:${port}/a?b=c`, [
      "Connection: X-Mine",
      "X-Mine: hop",
      "X-Other: end",
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toMatch(/Set-Cookie: a=1\r\nSet-Cookie: b=2/);
    expect(answer).not.toMatch(/x-hop: secret/i);
    expect(answer).toContain('"url":"/a?b=c"');
    expect(answer).toContain(`"host":"good.test:${port}"`);
    expect(answer).toContain('"x-other":"end"');
    expect(answer).not.toMatch(/proxy-authorization|x-mine/i);
  });

  test("a body goes through as it is", async () => {
    const port = await echo();
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    const { port: proxyPort } = new URL(proxy.access.server);
    const body = "x".repeat(300_000);
    const answer = await new Promise<string>((resolve, reject) => {
      const request = httpRequest({
        port: proxyPort,
        method: "POST",
        path: `http://good.test:${port}/post`,
        headers: { host: `good.test:${port}`, "proxy-authorization": basic(proxy) },
      });
      request.on("error", reject).on("response", async (response) => resolve((await response.toArray()).join("")));
      request.write(body.slice(0, 1000));
      request.end(body.slice(1000));
    });
    expect(JSON.parse(answer)).toMatchObject({ method: "POST", body });
  });

  test("another Host than the address has, a path alone, https in absolute form, a user name: 400", async () => {
    const port = await echo();
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    const auth = `Proxy-Authorization: ${basic(proxy)}\r\nConnection: close\r\n\r\n`;
    for (const head of [
      `GET http://good.test:${port}/ HTTP/1.1\r\nHost: other.test:${port}\r\n`,
      `GET http://good.test:${port}/ HTTP/1.1\r\nHost: good.test\r\n`,
      `GET / HTTP/1.1\r\nHost: good.test:${port}\r\n`,
      `GET https://good.test:${port}/ HTTP/1.1\r\nHost: good.test:${port}\r\n`,
      `GET http://a:b@good.test:${port}/ HTTP/1.1\r\nHost: good.test:${port}\r\n`,
      `GET ftp://good.test/ HTTP/1.1\r\nHost: good.test\r\n`,
      `GET http://good.test:${port}/ HTTP/1.1\r\nHost: good.test:${port}\r\nHost: other.test\r\n`,
    ]) {
      expect([head, await raw(proxy, head + auth)]).toEqual([head, expect.stringMatching(/^HTTP\/1\.1 400/)]);
    }
  });

  test.each(["GET", "DELETE", "OPTIONS", "POST"])(
    "a body of %s is never the next request, and Connection takes no header away that says where to",
    async (method) => {
      const port = await echo();
      const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
      const body = "GET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n";
      const head = `${method} http://good.test:${port}/one HTTP/1.1\r\nHost: good.test:${port}\r\nProxy-Authorization: ${basic(proxy)}\r\n`;
      for (const request of [
        `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
        `Content-Length: ${body.length}\r\nConnection: close, content-length, host\r\n\r\n${body}`,
      ]) {
        const answer = await raw(proxy, head + request);
        expect(answer).toContain('"url":"/one"');
        expect(answer).toContain(JSON.stringify({ body }).slice(1, -1));
        expect(answer).toContain(`"host":"good.test:${port}"`);
      }
    },
  );

  test.each(["099 Low", "000 None"])("an answer of %s ends its connection and nothing else", async (status) => {
    const port = await portOf(
      createServer((socket) =>
        socket.once("data", () => socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 2\r\n\r\nok`)),
      ),
    );
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    expect(await get(proxy, `http://good.test:${port}/`)).toBe("");
    expect(await get(proxy, `http://evil.test:${port}/`)).toMatch(/^HTTP\/1\.1 403/);
  });

  test("a host off the list is refused and told, a private one of the list too", async () => {
    const port = await echo();
    const proxy = await proxyFor({ allowed: ["good.test"] });
    const before = proxy.mark();
    expect(await get(proxy, `http://evil.test:${port}/`)).toMatch(/^HTTP\/1\.1 403/);
    expect(await get(proxy, `http://good.test:${port}/`)).toMatch(/^HTTP\/1\.1 403/);
    expect(proxy.since(before).map(({ host, error }) => [host, error.code])).toEqual([
      ["evil.test", "DOMAIN_REFUSED"],
      ["good.test", "ADDRESS_REFUSED"],
    ]);
  });
});

describe("tunnels", () => {
  test("carry bytes both ways to the checked address, and end with it", async () => {
    const port = await portOf(
      createServer((socket) => socket.on("data", (bytes) => socket.end(`told ${bytes.toString()}`))),
    );
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    const answer = await connectTo(proxy, `good.test:${port}`, undefined, undefined, (text, socket) => {
      if (text.endsWith("\r\n\r\n")) socket.write("hello");
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 [^\r]*\r\n\r\ntold hello$/);
  });

  test("each connection is made to the very address that was checked, after one resolution", async () => {
    const port = await portOf(createServer((socket) => socket.end("reached")));
    // The machine of a name that answers public first and private then, as far as this one goes: whoever asks twice is led away.
    let asked = 0;
    const guard = {
      checkName: (url: string) => new URL(url),
      check: async () => ((asked += 1) % 2 === 1 ? ["127.0.0.1"] : []),
    };
    const proxy = await startGuardingProxy({ guard, clock: stillClock, log: quiet });
    closing.push(() => proxy.close());
    expect(await connectTo(proxy, `flip.test:${port}`)).toMatch(/reached$/);
    expect(asked).toBe(1);
    expect(await connectTo(proxy, `flip.test:${port}`)).toMatch(/^HTTP\/1\.1 502/);
    expect(asked).toBe(2);
  });

  test("a name with a public and a private address is refused, and so is one that leads to this machine", async () => {
    const addresses: Record<string, string[]> = {
      "a.good.test": ["93.184.215.14", "127.0.0.1"],
      "b.good.test": ["::1"],
    };
    const proxy = await proxyFor({ lookup: async (host) => addresses[host] ?? [] });
    for (const host of Object.keys(addresses)) expect(await connectTo(proxy, `${host}:443`)).toMatch(/^HTTP\/1\.1 403/);
    expect(proxy.since(0).map(({ error }) => error.code)).toEqual(["ADDRESS_REFUSED", "ADDRESS_REFUSED"]);
  });

  test("another Host than the target, a target that is none: 400", async () => {
    const proxy = await proxyFor({});
    for (const [target, host] of [
      ["good.test:443", "evil.test:443"],
      ["good.test:443", "good.test:444"],
      ["good.test", "good.test"],
      ["good.test:0", "good.test:0"],
      ["good.test:65536", "good.test:65536"],
      ["a@good.test:443", "a@good.test:443"],
      ["http://good.test:443/", "good.test:443"],
    ] as const) {
      expect([target, await connectTo(proxy, target, host)]).toEqual([
        target,
        expect.stringMatching(/^HTTP\/1\.1 400/),
      ]);
    }
    expect(proxy.since(0)).toEqual([]);
  });

  test("a machine that can't be reached is 502 and no refusal; a name that does not exist too", async () => {
    const server = createServer();
    const port = await portOf(server);
    await new Promise((resolve) => server.close(resolve));
    const lookup = async (host: string) => {
      if (host === "none.good.test") throw new Error("ENOTFOUND");
      return ["127.0.0.1"];
    };
    const proxy = await proxyFor({ exempt: [`good.test:${port}`], lookup });
    expect(await connectTo(proxy, `good.test:${port}`)).toMatch(/^HTTP\/1\.1 502/);
    expect(await connectTo(proxy, "none.good.test:443")).toMatch(/^HTTP\/1\.1 502/);
    expect(proxy.since(0)).toEqual([]);
  });
});
