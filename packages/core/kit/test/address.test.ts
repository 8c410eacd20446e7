// Which addresses the outgoing client may connect to. Each line is a range through which an internal machine was reached
// somewhere: shared address space, IPv4 inside IPv6, metadata services.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isPublicAddress } from "../src/outgoing/target.ts";

describe("refused", () => {
  test.each([
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.254",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "169.254.169.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::",
    "::1",
    "::7f00:1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::a00:1",
    "2002:7f00:1::1",
    "2001::1",
    "2001:db8::1",
    "3fff::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1111%lo",
    "fec0::1",
    "ff02::1",
    "100::1",
    "5f00::1",
    "4000::1",
    "",
    "localhost",
    "127.1",
    "0x7f.0.0.1",
    "2130706433",
    "0177.0.0.1",
    "127.0.0.1.",
    "[::1]",
  ])("%s", (address) => expect(isPublicAddress(address)).toBe(false));

  test("every private IPv4 address, however it is carried inside an IPv6 one", () => {
    const byte = fc.nat(255);
    const internal = fc.oneof(
      fc.tuple(fc.constant(10), byte, byte, byte),
      fc.tuple(fc.constant(127), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
    );
    fc.assert(
      fc.property(internal, ([a, b, c, d]) => {
        const dotted = `${a}.${b}.${c}.${d}`;
        const hex = [(a << 8) | b, (c << 8) | d].map((part) => part.toString(16));
        for (const address of [
          dotted,
          `::ffff:${dotted}`,
          `::${dotted}`,
          `64:ff9b::${dotted}`,
          `2002:${hex.join(":")}::1`,
        ]) {
          expect(isPublicAddress(address)).toBe(false);
        }
      }),
    );
  });
});

test.each(["1.1.1.1", "8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"])(
  "public: %s",
  (address) => expect(isPublicAddress(address)).toBe(true),
);
