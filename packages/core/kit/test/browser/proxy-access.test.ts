// Who may use the proxy of a browser, for how long, and what it remembers of what it refused.
import { cases } from "@svc/cases";
import { SvcError } from "@svc/contract";
import * as fc from "fast-check";
import { createServer } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { refusalList } from "../../src/browser/guarding-proxy.ts";
import { basic, closeAll, connectTo, echo, portOf, proxyFor, raw } from "./proxy-fixture.ts";

afterEach(closeAll);

describe("who may use it", () => {
  test("nobody without its password, and no connection stays", async () => {
    const port = await echo();
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    const wrong = [
      undefined,
      "",
      "Basic",
      `Basic ${btoa("svc:")}`,
      `Basic ${btoa(`svc:${"0".repeat(48)}`)}`,
      `Bearer ${proxy.access.password}`,
    ];
    for (const auth of wrong) {
      const line = auth === undefined ? "" : `Proxy-Authorization: ${auth}\r\n`;
      expect(
        await raw(proxy, `GET http://good.test:${port}/ HTTP/1.1\r\nHost: good.test:${port}\r\n${line}\r\n`),
      ).toMatch(/^HTTP\/1\.1 407[^]*proxy-authenticate: Basic/i);
      expect(await raw(proxy, `CONNECT good.test:${port} HTTP/1.1\r\nHost: good.test:${port}\r\n${line}\r\n`)).toMatch(
        /^HTTP\/1\.1 407/,
      );
    }
    expect(proxy.since(0)).toEqual([]);
  });

  test("each has another", async () => {
    const [one, other] = [await proxyFor({}), await proxyFor({})];
    expect(one.access.password).not.toBe(other.access.password);
    expect(await connectTo(one, "good.test:443", undefined, basic(other))).toMatch(/^HTTP\/1\.1 407/);
  });

  test("after close nothing is let through, and what was open is ended", async () => {
    const port = await portOf(createServer(() => undefined));
    const proxy = await proxyFor({ exempt: [`good.test:${port}`] });
    const answer = await connectTo(proxy, `good.test:${port}`, undefined, undefined, (text) => {
      if (text.endsWith("\r\n\r\n")) void proxy.close();
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    await expect(connectTo(proxy, `good.test:${port}`)).rejects.toThrow(/ECONNREFUSED/);
  });
});

test("what is refused is remembered in order, of very much the last", () => {
  fc.assert(
    fc.property(fc.array(fc.domain(), { maxLength: 500 }), fc.nat(500), (hosts, place) => {
      const list = refusalList();
      const error = new SvcError("DOMAIN_REFUSED");
      hosts.slice(0, place).forEach((host) => list.add({ host, error }));
      const mark = list.mark();
      const later = hosts.slice(place);
      later.forEach((host) => list.add({ host, error }));
      expect(list.since(mark).map(({ host }) => host)).toEqual(later.slice(-200));
    }),
  );
});

test("bytes that are no request of a browser's end nothing but their own connection", async () => {
  const proxy = await proxyFor({});
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 400 }), async (text) => {
      const answer = await raw(proxy, `${text}\r\n\r\n\r\n`, undefined, true).catch(() => "");
      expect(answer).not.toMatch(/^HTTP\/1\.1 200/);
    }),
    { numRuns: cases(50) },
  );
  expect(await connectTo(proxy, "evil.test:443")).toMatch(/^HTTP\/1\.1 403/);
});
