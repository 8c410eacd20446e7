// Tests of TLS trust this certificate: one that only Node's parser takes would make them say nothing.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, get } from "node:https";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { selfSigned } from "../src/self-signed.ts";

const status = (port: number, host: string, ca: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const options = { port, host: "127.0.0.1", servername: host, headers: { host }, ca, agent: false };
    get(options, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });

test("a client that trusts it reaches the server by the names it holds, and by no other", async () => {
  const { key, cert } = selfSigned("one.test", ["one.test", "127.0.0.1"]);
  const server = createServer({ key, cert }, (_, response) => response.end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    expect(await status(port, "one.test", cert)).toBe(200);
    await expect(status(port, "two.test", cert)).rejects.toMatchObject({ code: "ERR_TLS_CERT_ALTNAME_INVALID" });
    await expect(status(port, "one.test", selfSigned("one.test").cert)).rejects.toThrow(/self-signed/);
  } finally {
    server.close();
  }
});

test("it says what it was asked to say", () => {
  const read = new X509Certificate(selfSigned("elsewhere.test", ["127.0.0.1"]).cert);
  expect([read.subject, read.subjectAltName, read.ca]).toEqual(["CN=elsewhere.test", "IP Address:127.0.0.1", true]);
  expect(read.verify(read.publicKey)).toBe(true);
});
