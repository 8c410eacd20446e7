// Releases are signed here and verified in every binary: both sides must agree with minisign's format, and a changed byte anywhere
// must be refused.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compareVersions, parsePublicKey, parseReleaseManifest, verifyMinisign } from "@svc/kit/releases";
import { requireReal } from "@svc/testkit/require-real";
import { makeKeyPair, parseSecretKey, publicLine, signFile } from "../src/signing.ts";

const pair = makeKeyPair();
const key = parseSecretKey(pair.secretKey);
const trusted = [parsePublicKey(pair.publicKey)];
const file = Buffer.from('{"format":1}\n');
const signature = signFile(file, key, "svc 1.2.3");
const refused = (why: string) =>
  expect.objectContaining({ code: "UPDATE_REFUSED", message: expect.stringContaining(why) });

describe("a signature", () => {
  test("is good for the file and the comment that were signed", () => {
    expect(verifyMinisign(file, signature, trusted)).toBe("svc 1.2.3");
    expect(publicLine(key)).toBe(pair.publicKey.split("\n")[1]);
  });

  test("is refused after any bit of the file changed", () => {
    for (let at = 0; at < file.length; at += 1) {
      const changed = Buffer.from(file);
      changed[at]! ^= 1;
      expect(() => verifyMinisign(changed, signature, trusted)).toThrow(refused("signature is wrong"));
    }
  });

  test("is refused with another comment, another key, and any line missing, repeated or changed", () => {
    expect(() => verifyMinisign(file, signature.replace("1.2.3", "1.2.4"), trusted)).toThrow(refused("wrong"));
    const stranger = [parsePublicKey(makeKeyPair().publicKey)];
    expect(() => verifyMinisign(file, signature, stranger)).toThrow(refused("does not trust"));
    expect(() => verifyMinisign(file, signature, [])).toThrow(refused("does not trust"));
    const lines = signature.trimEnd().split("\n");
    for (let at = 0; at < lines.length; at += 1) {
      const without = lines.toSpliced(at, 1).join("\n");
      const twice = lines.toSpliced(at, 0, lines[at]!).join("\n");
      const shorter = lines.with(at, lines[at]!.slice(1)).join("\n");
      for (const text of [without, twice, shorter, ""]) {
        expect(() => verifyMinisign(file, text, trusted)).toThrow(refused(""));
      }
    }
  });

  test("is refused in the form over the whole file, which signs no digest", () => {
    const [first, own, ...rest] = signature.split("\n") as [string, string];
    const legacy = Buffer.from(own, "base64");
    legacy.write("Ed");
    expect(() => verifyMinisign(file, [first, legacy.toString("base64"), ...rest].join("\n"), trusted)).toThrow(
      refused("unsupported algorithm"),
    );
  });

  test.each(["", "RW", "untrusted comment: x\n", pair.secretKey, `${pair.publicKey.trim()}=`])(
    "a key that is none is refused: %j",
    (text) => {
      expect(() => parsePublicKey(text)).toThrow(expect.objectContaining({ code: "USAGE" }));
    },
  );
});

describe("with minisign itself", () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-minisign-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  const isThere = spawnSync("minisign", ["-v"]).error === undefined;

  test("it verifies what is signed here, and signs with the key that is made here", (context) => {
    if (!isThere)
      requireReal(context, { name: "minisign", reason: "it is not installed; apt-get install minisign", tier: "B" });
    writeFileSync(at("file"), file);
    writeFileSync(at("file.minisig"), signature);
    writeFileSync(at("key"), pair.secretKey, { mode: 0o600 });
    const verify = ["-Vm", at("file"), "-P", publicLine(key)];
    expect(execFileSync("minisign", verify, { encoding: "utf8" })).toContain("Trusted comment: svc 1.2.3");
    execFileSync("minisign", ["-S", "-H", "-s", at("key"), "-m", at("file"), "-t", "by minisign", "-x", at("other")]);
    expect(verifyMinisign(file, readFileSync(at("other"), "utf8"), trusted)).toBe("by minisign");
    writeFileSync(at("file"), "changed");
    expect(spawnSync("minisign", verify).status).toBe(1);
  });

  test("a key that it made signs here", (context) => {
    if (!isThere)
      requireReal(context, { name: "minisign", reason: "it is not installed; apt-get install minisign", tier: "B" });
    execFileSync("minisign", ["-G", "-W", "-p", at("made.pub"), "-s", at("made.key")]);
    const made = parseSecretKey(readFileSync(at("made.key"), "utf8"));
    expect(readFileSync(at("made.pub"), "utf8")).toContain(publicLine(made));
    const text = signFile(file, made, "x");
    expect(verifyMinisign(file, text, [parsePublicKey(readFileSync(at("made.pub"), "utf8"))])).toBe("x");
  });
});

test("versions are ordered as semver does", () => {
  const order = [
    "0.9.9",
    "0.10.0-alpha",
    "0.10.0-alpha.1",
    "0.10.0-alpha.beta",
    "0.10.0-rc.2",
    "0.10.0-rc.10",
    "0.10.0",
    "1.0.0",
  ];
  expect(order.toReversed().toSorted(compareVersions)).toEqual(order);
  expect(compareVersions("1.2.3", "1.2.3")).toBe(0);
});

test.each([
  ["no JSON", "{"],
  ["another format", '{"format":2,"version":"1.0.0","commit":"a","schema_version":1,"builds":[]}'],
  [
    "a file outside of the release's folder",
    JSON.stringify({
      format: 1,
      version: "1.0.0",
      commit: "a",
      schema_version: 1,
      builds: [
        {
          profile: "minimal",
          target: "linux-x64",
          file: "../x",
          bytes: 1,
          sha256: "0".repeat(64),
          binary: { bytes: 1, sha256: "0".repeat(64) },
        },
      ],
    }),
  ],
])("a manifest is refused with %s, though signed", (_name, text) => {
  expect(() => parseReleaseManifest(Buffer.from(text))).toThrow(expect.objectContaining({ code: "UPDATE_REFUSED" }));
});
