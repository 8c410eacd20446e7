// What a URL may look like. The URL parser repairs many spellings; each repair is a way to show a reader one host and
// fetch another.
import { describe, expect, test } from "vitest";
import { SvcError } from "@svc/contract";
import { parseTarget } from "../src/outgoing/target.ts";

describe("refused", () => {
  test.each([
    "",
    "example.test",
    "/path",
    "ftp://example.test/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "http://user@example.test/",
    "http://user:pass@example.test/",
    "http://:pass@example.test/",
    "http://a@b@example.test/",
    "http://0x7f.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://127.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://１２７.0.0.1/",
    "http://127。0。0。1/",
    "http://example.test./",
    "http://example%2etest/",
    "http:example.test",
    "http:/example.test",
    "http:///example.test",
    "http:\\\\example.test\\",
    "http://example.test\\@evil.test/",
    "http://exa\tmple.test/",
    "http://example.test/\r\nx",
    "http://example.test:0/",
    "http://example.test:65536/",
    "http://",
    "http://[::1",
    "http://1.2.3.4.5/",
    `http://example.test/${"x".repeat(9000)}`,
  ])("%j", (url) => expect(() => parseTarget(url)).toThrow(SvcError));

  test.each(["//evil@example.test/", "//0x7f.1/", "\\\\example.test/", "http:/127.1/", "ftp://example.test/"])(
    "as a redirect: %j",
    (location) => expect(() => parseTarget(location, new URL("http://example.test/a"))).toThrow(SvcError),
  );
});

describe("taken", () => {
  test.each([
    ["https://example.test/a?b#c", "https://example.test/a?b"],
    [" http://1.2.3.4:8080/ ", "http://1.2.3.4:8080/"],
    ["HTTP://Example.TEST", "http://example.test/"],
    ["https://bücher.test/", "https://xn--bcher-kva.test/"],
    ["http://[2606:4700::1111]/", "http://[2606:4700::1111]/"],
  ])("%s", (url, href) => expect(parseTarget(url).href).toBe(href));

  test.each([
    ["/b c", "http://example.test/b%20c"],
    ["?x", "http://example.test/a?x"],
    ["//other.test/", "http://other.test/"],
  ])("redirect to %s", (location, href) => {
    const base = new URL("http://example.test/a");
    expect(parseTarget(location, base).href).toBe(href);
  });
});
