// The Host and Origin rules against the URL parser that browsers use, and the host check against any target: nothing passes that
// a browser would have sent somewhere else. And signatures: any change to what is signed is a refusal.
import { createHmac } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hostCheck, hostRules } from "../src/pipeline.ts";
import { Reply } from "../src/http/reply.ts";
import { REMEMBER_MS } from "../src/pipeline.ts";
import { SeenIds, SignatureCheck } from "../src/routes/webhook.ts";

const rules = hostRules({ allowedHosts: ["bot.internal"], publicUrl: "https://svc.example.org", port: 42_617 });
const PIECES = [
  "localhost",
  "bot.internal",
  "svc.example.org",
  "evil.example",
  "127.0.0.1",
  "127.1",
  "[::1]",
  "[",
  "]",
  ":",
  "@",
  "/",
  "\\",
  ".",
  "-",
  "80",
  "42617",
  "443",
  "%",
  "#",
  "?",
  " ",
  ",",
  "http",
  "https",
  "//",
  "xn--",
  "é",
  "\t",
];
const pieces = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...PIECES), { maxLength }).map((parts) => parts.join(""));
const text = fc.oneof(pieces(6), fc.string(), fc.domain());
const SERVED = new Set(["localhost", "bot.internal", "svc.example.org"]);
const isServed = ({ hostname }: URL): boolean => SERVED.has(hostname) || /^(?:[\d.]+|\[[0-9a-f:.]+\])$/.test(hostname);

/** In the place of what is refused: of that there is nothing to say. */
const OURS = new URL("https://svc.example.org/");

describe("hosts", () => {
  test("one that is served is, for a browser too, one of ours, and nothing but a host", () => {
    fc.assert(
      fc.property(text, (host) => {
        const url = rules.allowsHost(host) && URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`) : OURS;
        expect([isServed(url), url.username, url.pathname, url.search, url.hash]).toEqual([true, "", "/", "", ""]);
      }),
      { numRuns: cases(3_000) },
    );
  });

  test("an Origin that may ask is one that a browser sends for us, on a port of ours", () => {
    const origin = fc
      .tuple(fc.constantFrom("http://", "https://", "http:", "", "file://", "HTTP://"), text)
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(origin, (one) => {
        const url = rules.allowsOrigin(one, one.replace(/^https?:\/\//i, "")) ? new URL(one) : OURS;
        const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
        expect([isServed(url), url.pathname, [443, 42_617].includes(port)]).toEqual([true, "/", true]);
      }),
      { numRuns: cases(3_000) },
    );
  });
});

describe("the host check", () => {
  const hosts = { rules, open: new Set(["/evil.example"]), page: new Set<string>() };
  const target = fc.oneof(
    pieces(8),
    fc.tuple(fc.constantFrom("/", "http://", "https://", "HTTP://"), pieces(6)).map((parts) => parts.join("")),
    fc.string(),
  );
  const incoming = (url: string, host: string | undefined, origin: string | undefined): IncomingMessage =>
    ({
      url,
      httpVersion: "1.1",
      headers: { ...(host !== undefined && { host }), ...(origin !== undefined && { origin }) },
      rawHeaders: host === undefined ? [] : ["Host", host],
    }) as unknown as IncomingMessage;

  const pathIn = (url: string): string => /^(?:https?:\/\/[^/?#]+)?([^?]*)/i.exec(url)?.[1] || "/";
  const isOurs = (host: string | undefined, origin: string | undefined): boolean =>
    host !== undefined && rules.allowsHost(host) && (origin === undefined || rules.allowsOrigin(origin, host));

  test("lets a request in only with a Host of ours, and by the path that stands in its target or by none", () => {
    fc.assert(
      fc.property(
        target,
        fc.option(text, { nil: undefined }),
        fc.option(text, { nil: undefined }),
        (url, host, origin) => {
          const entered = hostCheck(incoming(url, host, origin), hosts);
          const isRight =
            entered instanceof Reply
              ? [400, 403].includes(entered.status)
              : (entered === "" || pathIn(url) === entered) &&
                (entered === "/health" || hosts.open.has(entered) || isOurs(host, origin));
          expect(isRight).toBe(true);
        },
      ),
      { numRuns: cases(3_000) },
    );
  });
});

describe("signatures", () => {
  const NOW = Date.UTC(2026, 0, 1);
  const check = (): SignatureCheck => new SignatureCheck("a key of some length", new SeenIds(REMEMBER_MS));
  const signed = (id: string, timestamp: string, body: Buffer): string =>
    `v1,${createHmac("sha256", "a key of some length").update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
  const id = fc.stringMatching(/^[\x21-\x7e]{1,40}$/);
  const body = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));
  const seconds = fc.integer({ min: -300, max: 300 }).map((offset) => String(NOW / 1000 + offset));

  test("a valid one is taken among any others, once", () => {
    const others = fc.array(fc.stringMatching(/^[\x21-\x7e]{0,60}$/), { maxLength: 4 });
    fc.assert(
      fc.property(id, seconds, body, others, others, (one, timestamp, bytes, before, after) => {
        const signature = [...before, signed(one, timestamp, bytes), ...after].join(" ");
        const headers = { "webhook-id": one, "webhook-timestamp": timestamp, "webhook-signature": signature };
        const checker = check();
        expect([checker.take(headers, bytes, NOW), checker.take(headers, bytes, NOW)]).toEqual([one, undefined]);
      }),
    );
  });

  test("with any other id, time, body or signature it is none, and nothing is thrown", () => {
    const header = fc.option(fc.oneof(id, seconds, fc.string({ unit: "binary" })), { nil: undefined });
    fc.assert(
      fc.property(
        id,
        seconds,
        body,
        header,
        header,
        body,
        fc.nat(3),
        (one, timestamp, bytes, text, other, otherBytes, what) => {
          const signature = signed(one, timestamp, bytes);
          const headers = {
            "webhook-id": what === 0 ? text : one,
            "webhook-timestamp": what === 1 ? text : timestamp,
            "webhook-signature": what === 2 ? other : signature,
          };
          const sent = what === 3 ? otherBytes : bytes;
          fc.pre(
            headers["webhook-id"] !== one ||
              headers["webhook-timestamp"] !== timestamp ||
              headers["webhook-signature"] !== signature ||
              !sent.equals(bytes),
          );
          expect(check().take(headers as Record<string, string>, sent, NOW)).toBeUndefined();
        },
      ),
    );
  });
});
