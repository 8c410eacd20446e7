// What every feature keeps, and which Chromium is started.
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import { findChromium, profileFolder, removeLeftOvers } from "../src/chromium.ts";
import definition from "../src/index.ts";
import { create } from "../src/native.ts";

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config: {
    enabled: true,
    backend: "native",
    allowed_domains: ["example.com"],
    native_headless: true,
    idle_secs: 300,
    chromium_path: process.execPath,
  },
  inputs: { browser: { action: "get_url" } },
});

const section: unknown = { allowed_domains: ["example.com"], idle_secs: 300 };
for (const tool of create(fakeFeatureContext(section)).tools ?? []) {
  toolConformance(tool, {
    input: { action: "close" },
    badInputs: [{}, { action: "evaluate" }, { action: "open", url: "" }],
    refused: [
      { input: { action: "snapshot" }, code: "BROWSER_FAILED" },
      { input: { action: "open", url: "https://other.test/" }, code: "DOMAIN_REFUSED" },
      { input: { action: "open", url: "file:///etc/passwd" }, code: "ADDRESS_REFUSED" },
    ],
  });
}

test("is on when the section says so", () => {
  expect(definition.when?.({ enabled: true, backend: "native" })).toBe(true);
  expect(definition.when?.({ enabled: false, backend: "native" })).toBe(false);
  expect(definition.when?.({ enabled: true, backend: "agent_browser" })).toBe(false);
});

test("the configured program is taken, or told to be missing; else the first usual one that is there", async () => {
  using home = temporaryHome();
  const [plain, program] = [join(home.path, "plain"), join(home.path, "program")];
  for (const path of [plain, program]) writeFileSync(path, "");
  chmodSync(program, 0o700);
  expect(await findChromium(program)).toBe(program);
  expect(await findChromium(undefined, [join(home.path, "none"), plain, program])).toBe(program);
  await expect(findChromium(plain, [program])).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
  await expect(findChromium(undefined, [plain])).rejects.toMatchObject({ code: "BROWSER_UNAVAILABLE" });
});

test("what a killed process has left is removed, and what is in use stays", async () => {
  using home = temporaryHome();
  const own = await profileFolder(home.path);
  // The same process number, of an earlier start.
  mkdirSync(join(home.path, `${process.pid}-1-abc`, "profile"), { recursive: true });
  await removeLeftOvers(home.path);
  expect(readdirSync(home.path).map((name) => join(home.path, name))).toEqual([own.root]);
  await own.remove();
  expect(readdirSync(home.path)).toEqual([]);
  await removeLeftOvers(join(home.path, "never-made"));
});
