// Every parser a stranger's bytes go through: never throws, never takes what it should not, agrees with what it is fed.
import * as fc from "fast-check";
import { isIP } from "node:net";
import { captureLogger } from "@svc/testkit/capture-logger";
import { describe, expect, test } from "vitest";
import { isJsonType } from "../src/http/request.ts";
import { Reply } from "../src/http/reply.ts";
import {
  ForwardingMonitor,
  Peer,
  addressSet,
  canonicalAddress,
  clientResolver,
  forwardedAddress,
  hopAddress,
  isLoopback,
  limiterKey,
} from "../src/client.ts";
import { idempotencyKey } from "../src/pipeline.ts";
import { messageOf, sessionId } from "../src/routes/webhook.ts";

const address = fc.oneof(fc.ipV4(), fc.ipV6());
/** Header text: mostly what real ones are made of, so that the interesting branches are reached. */
const noise = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(",", " ", "[", "]", ":", ".", '"', "1", "f", "%", "-", "_") }),
);
const watch = new ForwardingMonitor(captureLogger());

describe("forwarding headers", () => {
  test("a hop is an address in every spelling proxies use", () => {
    fc.assert(
      fc.property(address, fc.nat(65_535), (ip, port) => {
        const wanted = canonicalAddress(ip);
        const spellings = isIP(ip) === 4 ? [ip, `${ip}:${port}`] : [ip, `[${ip}]`, `[${ip}]:${port}`];
        for (const spelling of spellings) {
          expect(hopAddress(spelling)).toBe(wanted);
          expect(hopAddress(` "${spelling}" `)).toBe(wanted);
        }
      }),
    );
  });

  test("the rightmost valid hop counts, whatever a caller wrote to its left and whatever is invalid to its right", () => {
    const invalid = fc.constantFrom("", " ", "unknown", "_hidden", "1.2.3", "[::1", "::1%eth0", "localhost");
    fc.assert(
      fc.property(fc.array(noise), address, fc.array(invalid, { maxLength: 8 }), (left, hop, right) => {
        const header = [...left, hop, ...right].join(",");
        expect(forwardedAddress({ "x-forwarded-for": header })).toBe(canonicalAddress(hop));
      }),
    );
  });

  test("anything else yields an address or nothing, and never throws", () => {
    fc.assert(
      fc.property(noise, noise, (list, realIp) => {
        const found = forwardedAddress({ "x-forwarded-for": list, "x-real-ip": realIp });
        expect(found === undefined || isIP(found) > 0).toBe(true);
      }),
    );
  });

  test("X-Real-IP counts only when X-Forwarded-For has no valid hop", () => {
    const headers = { "x-forwarded-for": "unknown", "x-real-ip": "203.0.113.9" };
    expect(forwardedAddress(headers)).toBe("203.0.113.9");
    expect(forwardedAddress({ ...headers, "x-forwarded-for": "198.51.100.1" })).toBe("198.51.100.1");
  });

  test("a header of nothing but commas costs next to nothing and names nobody", () => {
    expect(forwardedAddress({ "x-forwarded-for": ",".repeat(16_000) })).toBeUndefined();
  });

  test("no header makes a stranger's client key another stranger's, without a trusted proxy", () => {
    const clientOf = clientResolver({ trustForwardedHeaders: true, trustedProxies: ["10.0.0.0/8"], watch });
    fc.assert(
      fc.property(fc.ipV4(), noise, (peerAddress, header) => {
        fc.pre(!peerAddress.startsWith("10."));
        const peer = new Peer(peerAddress);
        expect(clientOf({ "x-forwarded-for": header }, peer)).toBe(peer);
      }),
    );
  });
});

describe("addresses", () => {
  test("have one spelling each, which is its own", () => {
    fc.assert(
      fc.property(address, (ip) => {
        const canonical = canonicalAddress(ip)!;
        expect(canonicalAddress(canonical)).toBe(canonical);
        expect(canonicalAddress(ip.toUpperCase())).toBe(canonical);
      }),
    );
    expect(canonicalAddress("::ffff:203.0.113.9")).toBe("203.0.113.9");
    expect(canonicalAddress("2001:DB8:0:0:0:0:0:7")).toBe("2001:db8::7");
    expect(limiterKey("2001:db8::7")).toBe("2001:db8:0:0::/64");
  });

  test("IPv6 of one /64 share a key, of two do not; IPv4 never share one", () => {
    const part = fc.nat(0xffff).map((value) => value.toString(16));
    const half = fc.tuple(part, part, part, part).map((parts) => parts.join(":"));
    fc.assert(
      fc.property(half, half, half, (network, one, two) => {
        fc.pre(!/^(0+:)+/.test(network));
        expect(limiterKey(canonicalAddress(`${network}:${one}`)!)).toBe(
          limiterKey(canonicalAddress(`${network}:${two}`)!),
        );
      }),
    );
    fc.assert(fc.property(fc.ipV4(), fc.ipV4(), (a, b) => (limiterKey(a) === limiterKey(b)) === (a === b)));
  });

  test.each(["127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1"])("%s is loopback", (ip) =>
    expect(isLoopback(ip)).toBe(true),
  );
  test.each(["", "localhost", "128.0.0.1", "::2", "::ffff:128.0.0.1", "127.0.0.1.nip.io", "::1%lo", "0.0.0.0", "::"])(
    "%j is not",
    (ip) => expect(isLoopback(ip)).toBe(false),
  );

  test("blocks hold what they say", () => {
    const isTrusted = addressSet(["10.0.0.0/8", "::1", "192.0.2.7"]);
    expect(["10.9.9.9", "::1", "192.0.2.7", "::ffff:10.1.1.1"].map(isTrusted)).toEqual([true, true, true, true]);
    expect(["11.0.0.0", "::2", "192.0.2.8"].map(isTrusted)).toEqual([false, false, false]);
  });
});

describe("request headers", () => {
  test("a session id is taken exactly when it is 1 to 128 of its alphabet", () => {
    fc.assert(
      fc.property(
        fc.oneof(noise, fc.string({ unit: fc.constantFrom("a", "Z", "9", ".", "_", "-"), maxLength: 140 })),
        (text) => {
          const isValid =
            text.length >= 1 && text.length <= 128 && [...text].every((one) => /[A-Za-z0-9._-]/.test(one));
          expect(sessionId(text) instanceof Reply).toBe(!isValid);
        },
      ),
    );
    expect(sessionId("a\n") instanceof Reply).toBe(true);
  });

  test("an idempotency key is taken exactly when it is 1 to 256 visible ASCII characters", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.string({ minLength: 250, maxLength: 260 })), (text) => {
        const isValid =
          text.length >= 1 &&
          text.length <= 256 &&
          [...text].every((one) => one.charCodeAt(0) > 32 && one.charCodeAt(0) < 127);
        expect(idempotencyKey(text) instanceof Reply).toBe(!isValid);
      }),
    );
  });

  test("a content type is JSON's only with a real end or parameters after it", () => {
    fc.assert(
      fc.property(noise, (rest) => {
        const isEnd = /^[ \t]*(;.*)?$/s.test(rest);
        expect(isJsonType(`application/json${rest}`)).toBe(isEnd);
      }),
    );
  });
});

describe("bodies", () => {
  test("any bytes are a message or a 400, and never throw", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const result = messageOf(Buffer.from(bytes));
        expect(result instanceof Reply ? result.status : typeof result).toBe(result instanceof Reply ? 400 : "string");
      }),
    );
  });

  test("any JSON value is a message exactly when it is an object with a non-blank string of that name", () => {
    const value = fc.oneof(fc.jsonValue(), fc.record({ message: fc.jsonValue() }), fc.record({ message: fc.string() }));
    fc.assert(
      fc.property(value, (json: any) => {
        const result = messageOf(Buffer.from(JSON.stringify(json)));
        const message = json !== null && typeof json === "object" && !Array.isArray(json) ? json.message : undefined;
        const isMessage = typeof message === "string" && message.trim() !== "";
        expect(result instanceof Reply ? result.status : result).toBe(isMessage ? message : 400);
      }),
    );
  });
});
