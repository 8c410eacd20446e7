// The URL, the exemptions and the headers of an outgoing request come from a model or a config: whatever they are, what is
// fetched is what a plain reader saw, and nothing else is let through.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SvcError } from "@svc/contract";
import { exemptions } from "../src/outgoing/guarded-fetch.ts";
import { headersForOtherOrigin, requestHeaders } from "../src/outgoing/exchange.ts";
import { parseTarget } from "../src/outgoing/target.ts";

const PIECES = [
  "http",
  "https",
  "ftp",
  ":",
  "//",
  "/",
  "\\",
  "@",
  "a",
  "b.test",
  "127.0.0.1",
  "127.1",
  "0x7f",
  "[::1]",
  "%2e",
  "%",
  ".",
  "..",
  "?",
  "#",
  ":80",
  ":0",
  " ",
  "\t",
  "\n",
  "\0",
  "。",
  "１",
  "é",
  "xn--e1a",
];
const urlText = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 10 }).map((parts) => parts.join("")),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map((parts) => `http://${parts.join("")}`),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  fc.string({ unit: "binary" }),
);

/** What `run` gives; undefined when it threw, which it may only with this code. */
function attempt<T>(code: string, run: () => T): T | undefined {
  try {
    return run();
  } catch (error) {
    if (error instanceof SvcError && error.code === code) return undefined;
    throw error;
  }
}

/** Of the refusal, which must be one of the config; blank when there is none. */
function messageOf(run: () => unknown): string {
  try {
    run();
    return "";
  } catch (error) {
    if (error instanceof SvcError && error.code === "CONFIG_INVALID") return error.message;
    throw error;
  }
}

/** The host as somebody reads it who knows no more than what comes after two slashes. */
const hostAsRead = (text: string): string | undefined =>
  /^https?:\/\/([^/?#:@[\]\\]+|\[[^\]]*\])/i.exec(text.trim())?.[1]?.toLowerCase();

const isPlain = (url: URL): boolean =>
  /^https?:$/.test(url.protocol) &&
  url.username + url.password + url.hash === "" &&
  !/^$|\.$|%/.test(url.hostname) &&
  parseTarget(url.href).href === url.href;

describe("a URL", () => {
  test("is refused in words, or goes by http(s) to a host without credentials and without repairs left to make", () => {
    fc.assert(
      fc.property(urlText, (text) => {
        const url = attempt("ADDRESS_REFUSED", () => parseTarget(text));
        expect(url === undefined || isPlain(url)).toBe(true);
      }),
      { numRuns: cases(2_000) },
    );
  });

  test("that goes to an address shows that very address", () => {
    fc.assert(
      fc.property(urlText, (text) => {
        const host = attempt("ADDRESS_REFUSED", () => parseTarget(text))?.hostname ?? "";
        expect(/^[\d.]+$/.test(host) ? hostAsRead(text) : host).toBe(host);
      }),
      { numRuns: cases(2_000) },
    );
  });

  test("of a redirect that names no host stays at the one checked before", () => {
    const base = new URL("https://checked.test:8443/a/b?c");
    const relative = fc
      .array(fc.constantFrom("a", "/", "..", "?", "%2f", ":", ";", "=", "é"), { maxLength: 10 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(relative, (text) => {
        fc.pre(!text.startsWith("//") && !/^[a-z][a-z0-9+.-]*:/i.test(text));
        const url = attempt("ADDRESS_REFUSED", () => parseTarget(text, base));
        expect(url?.origin ?? base.origin).toBe(base.origin);
      }),
    );
  });
});

describe("an exemption", () => {
  const host = fc.oneof(
    fc.domain(),
    fc.ipV4(),
    fc.ipV6().map((ip) => `[${ip}]`),
  );
  const port = fc.integer({ min: 1, max: 65_535 });

  test("holds for its host and port, in any case, and for no other", () => {
    fc.assert(
      fc.property(host, port, host, port, (name, number, otherName, otherNumber) => {
        const isExempt = exemptions([`${name}:${number}`], []);
        const { hostname } = new URL(`http://${name}`);
        expect(isExempt("http:", hostname.toUpperCase(), String(number))).toBe(true);
        expect(isExempt("https:", hostname, String(number))).toBe(true);
        const other = new URL(`http://${otherName}`).hostname;
        const isSame = other === hostname && otherNumber === number;
        expect(isExempt("http:", other, String(otherNumber))).toBe(isSame);
      }),
    );
  });

  test("that is no host:port is refused without a word of it", () => {
    const entry = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(entry, (text) => {
        const refused = messageOf(() => exemptions([`planted${text}`], []));
        expect(refused).not.toContain("planted");
      }),
    );
  });
});

describe("headers", () => {
  const name = fc.oneof(
    fc.constantFrom("Host", "Content-Length", "Transfer-Encoding", "Proxy-X", "X-A", "Authorization"),
    fc.string({ unit: "binary" }),
  );
  const given = fc.dictionary(name, fc.string({ unit: "binary" }), { maxKeys: 5 });

  test("are refused, or can neither end a line nor frame the request anew", () => {
    fc.assert(
      fc.property(given, (headers) => {
        const checked = attempt("BAD_REQUEST", () => requestHeaders(headers));
        const isWrong = ([key, value]: [string, string]): boolean =>
          !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key) ||
          /[\r\n\0]/.test(value) ||
          ["host", "content-length", "transfer-encoding", "connection"].includes(key);
        expect(Object.entries(checked ?? {}).filter(isWrong)).toEqual([]);
      }),
    );
  });

  test("that go on to another origin are a part of them, without a credential of any name", () => {
    fc.assert(
      fc.property(given, (headers) => {
        const lower = Object.fromEntries(Object.entries(headers).map(([key, value]) => [key.toLowerCase(), value]));
        const kept = headersForOtherOrigin({
          ...lower,
          authorization: "x",
          cookie: "x",
          "x-api-key": "x",
          accept: "y",
        });
        expect(kept).not.toHaveProperty("authorization");
        expect(kept).not.toHaveProperty("cookie");
        expect(kept).not.toHaveProperty("x-api-key");
        expect(kept).toMatchObject({ accept: "y" });
      }),
    );
  });
});
