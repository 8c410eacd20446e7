// A certificate that nobody vouches for is another trouble than a network that is down: people fix them in different places.
import { describe, expect, test } from "vitest";
import { unreachable } from "../src/outgoing/exchange.ts";

describe("what a network layer threw", () => {
  test.each([
    { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    { code: "CERT_HAS_EXPIRED" },
    { cause: { code: "ERR_TLS_CERT_ALTNAME_INVALID" } },
    { cause: { cause: { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE" } } },
  ])("is told as a certificate: %j", (error) => {
    expect(unreachable(error)).toMatchObject({
      code: "REMOTE_UNREACHABLE",
      message: "The remote server's certificate is not trusted here.",
      hint: expect.stringContaining("NODE_EXTRA_CA_CERTS"),
    });
  });

  test.each([
    { code: "ECONNREFUSED" },
    { code: "UND_ERR_SOCKET", cause: { code: "CERT_HAS_EXPIRED" } },
    {},
    undefined,
    "x",
  ])("is told as a network: %j", (error) => {
    expect(unreachable(error).code).toBe("REMOTE_UNREACHABLE");
    expect(unreachable(error).message).not.toContain("certificate");
  });
});
