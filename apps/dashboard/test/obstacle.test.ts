// Where browsers use no passkeys, the page must say so before a useless button is pressed, and nowhere else.
import { expect, test } from "vitest";
import { obstacleOn } from "../src/components/passkey-obstacle.tsx";

const on = (address: string, rest: { isSecureContext?: boolean; PublicKeyCredential?: unknown } = {}) =>
  obstacleOn({
    isSecureContext: true,
    PublicKeyCredential: Function,
    ...rest,
    location: new URL(address) as unknown as Location,
  });

test.each([
  "https://agent.example.org/",
  "http://localhost:42617/#/passkeys",
  "https://127.example.org/",
  "https://1a.example/",
])("reports no obstacle at %s", (address) => expect(on(address)).toBeUndefined());

test.each([
  ["http://127.0.0.1:42617/#/passkeys", "http://localhost:42617/"],
  ["http://127.1.2.3/", "http://localhost/"],
  ["http://[::1]:42617/", "http://localhost:42617/"],
  ["https://127.0.0.1:8443/", "https://localhost:8443/"],
])("links from %s to localhost", (address, href) => {
  expect(on(address)).toMatchObject({ href, text: expect.stringContaining("IP address") });
});

test.each(["https://192.168.1.20/", "http://[fd00::1]:42617/"])("reports IP address %s as an obstacle", (address) => {
  expect(on(address, { isSecureContext: false })).toEqual({ text: expect.stringContaining("by its name, over https") });
});

test("reports plain http as an obstacle", () => {
  for (const PublicKeyCredential of [undefined, Function]) {
    const there = { isSecureContext: false, PublicKeyCredential };
    expect(on("http://agent.example.org/", there)).toEqual({ text: expect.stringContaining("https only") });
  }
});

test("reports a browser without passkeys", () => {
  expect(on("https://agent.example.org/", { PublicKeyCredential: undefined })).toEqual({
    text: "This browser has no passkeys.",
  });
});
