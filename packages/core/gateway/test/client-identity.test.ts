// Whose request it is, for limits and lockouts: never whom a stranger names, and nobody pays for what another one did.
import { coreSections } from "@svc/config";
import { captureLogger } from "@svc/testkit/capture-logger";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { ForwardingMonitor, Peer, clientResolver } from "../src/client.ts";
import { Harness, type HarnessOptions } from "./harness.ts";
import { call, post } from "./http.ts";

const WRONG = `svc_${"0".repeat(64)}`;
const DEFAULTS = v.parse(coreSections.gateway, {});

async function started(options: HarnessOptions = {}) {
  const harness = new Harness();
  const token = harness.device();
  const config = { trust_forwarded_headers: true, webhook_rate_limit_per_minute: 1, ...options.config };
  const gateway = await harness.start({ ...options, config });
  const from = async (headers: Record<string, string>, bearer = token) =>
    (await post(gateway, bearer, undefined, headers)).status;
  return { gateway, token, from };
}

describe("a proxy is believed", () => {
  const clientOf = clientResolver({
    trustForwardedHeaders: true,
    trustedProxies: DEFAULTS.trusted_proxies,
    watch: new ForwardingMonitor(captureLogger()),
  });
  const seen = (peer: string) => clientOf({ "x-forwarded-for": "203.0.113.5" }, new Peer(peer)).address;

  test.each([
    "127.0.0.1",
    "127.9.9.9",
    "::1",
    "::ffff:127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "fd00::1",
    "::ffff:10.0.0.1",
  ])("by default on a private address: %s", (peer) => expect(seen(peer)).toBe("203.0.113.5"));

  test.each([
    "172.15.255.255",
    "172.32.0.1",
    "11.0.0.1",
    "192.169.0.1",
    "100.64.0.1",
    "169.254.1.1",
    "fe80::1",
    "2001:db8::1",
    "::ffff:8.8.8.8",
    "8.8.8.8",
  ])("by default nowhere else: %s", (peer) => expect(seen(peer)).toBe(new Peer(peer).address));

  test("only with the setting on", () => expect(DEFAULTS.trust_forwarded_headers).toBe(false));
});

describe("of what it writes", () => {
  test.each<[string, Record<string, string>]>([
    ["the rightmost hop", { "x-forwarded-for": "198.51.100.1, 203.0.113.5" }],
    ["the rightmost valid one", { "x-forwarded-for": "203.0.113.5, unknown, , [::1, 1.2.3" }],
    ["one in quotes", { "x-forwarded-for": 'x, "203.0.113.5"' }],
    ["one with a port", { "x-forwarded-for": "203.0.113.5:4711" }],
    ["one in the form of IPv6", { "x-forwarded-for": "::ffff:203.0.113.5" }],
    ["X-Real-IP, where no hop is valid", { "x-forwarded-for": "unknown", "x-real-ip": "203.0.113.5" }],
  ])("%s counts, however it is written", async (_name, headers) => {
    const { from } = await started();
    expect([await from({ "x-forwarded-for": "203.0.113.5" }), await from(headers)]).toEqual([200, 429]);
    expect(await from({ "x-forwarded-for": "203.0.113.6" })).toBe(200);
  });

  test.each(["[2001:db8:1:2::9]:443", '"[2001:db8:1:2::9]:443"', "2001:DB8:1:2:0:0:0:9", "[2001:db8:1:2:ffff::]"])(
    "an IPv6 address counts by its /64: %s",
    async (hop) => {
      const { from } = await started();
      expect([await from({ "x-forwarded-for": "2001:db8:1:2::1" }), await from({ "x-forwarded-for": hop })]).toEqual([
        200, 429,
      ]);
      expect(await from({ "x-forwarded-for": "2001:db8:1:3::1" })).toBe(200);
    },
  );

  test("nothing that is no address counts: it is the proxy's own request", async () => {
    const { from } = await started();
    expect(await from({ "x-forwarded-for": "unknown" })).toBe(200);
    for (const text of ["", ",,,", "localhost", "127.1", "0x7f.1", "::1%eth0", "1.2.3.4.5"]) {
      expect(await from({ "x-forwarded-for": text, "x-real-ip": text })).toBe(429);
    }
    expect(await from({})).toBe(429);
  });
});

describe("nobody locks out another", () => {
  test("by naming them, from a peer that is not trusted", async () => {
    const { gateway, token, from } = await started({
      config: { trusted_proxies: ["10.0.0.0/8"], webhook_rate_limit_per_minute: 0 },
    });
    const victim = { "x-forwarded-for": "203.0.113.5" };
    for (let count = 0; count < 15; count += 1) await from(victim, WRONG);
    gateway.reconfigure({ config: { trusted_proxies: ["127.0.0.0/8"] } });
    expect(await from(victim, token)).toBe(200);
  });

  test("at the pairing code: another /64 may go on, the same may not", async () => {
    const { gateway } = await started();
    const { code } = gateway.gateway.pairing.issueCode({ scope: "read" });
    const pair = async (presented: string, address: string) => {
      const headers = { "x-pairing-code": presented, "x-forwarded-for": address };
      return (await call(gateway, { method: "POST", path: "/pair", headers })).status;
    };
    for (let count = 0; count < 5; count += 1) await pair(code === "000000" ? "1" : "000000", `2001:db8:1:2::${count}`);
    expect([await pair(code, "2001:db8:1:2::99"), await pair(code, "2001:db8:1:3::1")]).toEqual([429, 200]);
  });

  test("at the ten requests to /pair in a minute, which one client may use up alone", async () => {
    const { gateway } = await started();
    const ask = async (address: string) =>
      (await call(gateway, { method: "POST", path: "/pair", headers: { "x-forwarded-for": address } })).json.code;
    for (let count = 0; count < 5; count += 1) expect(await ask("203.0.113.5")).toBe("BAD_PAIRING_CODE");
    for (let count = 0; count < 5; count += 1) expect(await ask("203.0.113.5")).toBe("LOCKED_OUT");
    expect([await ask("203.0.113.5"), await ask("203.0.113.6")]).toEqual(["RATE_LIMITED", "BAD_PAIRING_CODE"]);
  });
});

describe("forwarding headers while they are not trusted", () => {
  test("are kept for svc doctor, and said once a start, whatever is reloaded", async () => {
    const { gateway, from } = await started({
      config: { trust_forwarded_headers: false, webhook_rate_limit_per_minute: 0 },
    });
    const said = () => gateway.log.lines.filter(({ message }) => message.includes("trust_forwarded_headers")).length;
    await from({});
    expect([gateway.gateway.seen.untrustedForwarding, said()]).toEqual([false, 0]);
    for (const name of ["x-forwarded-for", "forwarded", "via"]) await from({ [name]: "203.0.113.5" });
    expect([gateway.gateway.seen.untrustedForwarding, said()]).toEqual([true, 1]);
    gateway.reconfigure({ config: { max_body_bytes: 2048 } });
    expect(gateway.gateway.seen.untrustedForwarding).toBe(true);
    gateway.reconfigure({ config: { trust_forwarded_headers: true } });
    await from({ "x-forwarded-for": "203.0.113.5" });
    expect(gateway.gateway.seen.untrustedForwarding).toBe(false);
    gateway.reconfigure({ config: { trust_forwarded_headers: false } });
    await from({ "x-forwarded-for": "203.0.113.5" });
    expect([gateway.gateway.seen.untrustedForwarding, said()]).toEqual([true, 1]);
    expect(gateway.log.text()).not.toContain("203.0.113");
  });
});
