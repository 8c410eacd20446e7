// Which hosts the browser may have pages from: ways to be taken for a listed host, and to hide a private one.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowedHost, isPrivateHost } from "../../src/browser/index.ts";

describe("the list of domains", () => {
  const cases: [host: string, allowed: string[], expected: boolean][] = [
    ["www.example.com", ["example.com"], true],
    ["a.b.example.com", ["*.example.com"], true],
    ["EXAMPLE.com.", [" Example.COM "], true],
    ["example.com.evil.test", ["example.com"], false],
    ["evilexample.com", ["*.example.com"], false],
    ["example.com", ["www.example.com"], false],
    ["example.com", [""], false],
    ["example.com", ["*."], false],
    ["example.com", ["*.*"], false],
    ["example.com", ["com/../example.com"], false],
    ["xn--mnchen-3ya.de", ["münchen.de"], true],
    ["münchen.de", ["xn--mnchen-3ya.de"], true],
    // A Cyrillic letter that looks like ours is another name.
    ["ex\u0430mple.com", ["example.com"], false],
    ["8.8.8.8", ["8.8.8.8"], true],
    ["8.8.8.8", ["8.8"], false],
    ["1.8.8.8.8", ["8.8.8.8"], false],
    ["[2606:4700::1111]", ["2606:4700:0:0::1111"], true],
    ["user@example.com", ["example.com"], false],
    ["example.com:80", ["example.com"], false],
    ["", ["*"], false],
  ];
  test.each(cases)("%j in %j: %s", (host, allowed, expected) => {
    expect(isAllowedHost(host, allowed)).toBe(expected);
  });

  test("an empty list has nobody", () => {
    expect(() => fc.assert(fc.property(fc.domain(), (host) => !isAllowedHost(host, [])))).not.toThrow();
  });

  test("a host is listed by itself, by every domain above it, and by no other", () => {
    fc.assert(
      fc.property(fc.domain(), fc.domain(), (host, other) => {
        const parts = host.split(".");
        for (let from = 0; from < parts.length; from += 1) {
          expect(isAllowedHost(host, [parts.slice(from).join(".")])).toBe(true);
        }
        const below = host === other || host.endsWith(`.${other}`);
        expect(isAllowedHost(host, [other])).toBe(below);
        expect(isAllowedHost(`${host}x`, [host])).toBe(false);
        expect(isAllowedHost(`x${host}`, [host])).toBe(false);
      }),
    );
  });
});

describe("private hosts", () => {
  const privateOnes = `
    localhost LOCALHOST app.localhost localhost. printer.local a.b.local nas.lan x.home.arpa metadata.google.internal
    169.254.169.254 168.63.129.16 10.0.0.1 172.16.0.1 192.168.0.1 127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 0.0.0.0
    255.255.255.255 198.18.0.1 [::1] ::1 :: fe80::1 fd00::1 [::ffff:10.0.0.1] ::ffff:7f00:1 64:ff9b::7f00:1 ff02::1
    2001:db8::1 2002:7f00:1:: fe80::1%eth0 user@example.com 1.2.3.4.5`;
  test.each([...privateOnes.trim().split(/\s+/), "", " ", "a b"])("%j is one", (host) => {
    expect(isPrivateHost(host)).toBe(true);
  });

  test.each(["example.com", "localhost.example.com", "local.example.com", "mylocal", "8.8.8.8", "2606:4700::1111"])(
    "%j is none",
    (host) => {
      expect(isPrivateHost(host)).toBe(false);
    },
  );

  test("every private IPv4 address is one, however it is written", () => {
    const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(fc.constantFrom(10, 127, 224, 240), octets, (first, [b, c, d]) => {
        const number = ((first * 256 + b) * 256 + c) * 256 + d;
        for (const text of [
          `${first}.${b}.${c}.${d}`,
          String(number),
          `0x${number.toString(16)}`,
          `${first}.${b}.${c * 256 + d}`,
        ]) {
          expect(isPrivateHost(text)).toBe(true);
        }
        expect(isPrivateHost(`::ffff:${first}.${b}.${c}.${d}`)).toBe(true);
      }),
    );
  });
});
