// Data sheets are PDFs or nothing: a page, a cut file, a refusal or one that is too large leaves nothing behind. The tool is there while an
// adapter is.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FetchResult, Tool } from "@svc/contract";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, expect, test } from "vitest";
import { datasheetsOf } from "../src/datasheet.ts";

const home = temporaryHome();
afterAll(() => home[Symbol.dispose]());
const FOLDER = join(home.path, "hardware/datasheets");

function toolIn(homeFolder: string, isPlugged = true): Tool | undefined {
  return datasheetsOf("/").create(fakeFeatureContext({} as unknown, { homeFolder, survey: isPlugged })).tools?.[0];
}
const tool = toolIn(home.path)!;
const bytes = (text: string): Partial<FetchResult> => ({ bytes: new Uint8Array(Buffer.from(text)) });

toolConformance(tool, {
  input: { action: "download", device_name: "bme280", url: "https://example.org/a.pdf" },
  fetch: () => bytes("%PDF-1.7 data"),
  badInputs: [
    { action: "read", device_name: "../x" },
    { action: "erase", device_name: "x" },
  ],
  refused: [
    { input: { action: "read" }, code: "TOOL_BAD_INPUT" },
    { input: { action: "download", device_name: "x" }, code: "TOOL_BAD_INPUT" },
    { input: { action: "read", device_name: "x", url: "https://example.org" }, code: "TOOL_BAD_INPUT" },
  ],
});

const call = (input: object, answer: Partial<FetchResult> = {}) =>
  tool.run(input, fakeToolContext({ fetch: () => answer }));
const fetched = (answer: Partial<FetchResult>) =>
  call({ action: "download", device_name: "tmp102", url: "https://example.org/x" }, answer);

test("one that was fetched is listed, found, and its path is read", async () => {
  await fetched(bytes("%PDF-1.4 tmp"));
  expect(await call({ action: "list" })).toMatchObject({ datasheets: expect.arrayContaining(["tmp102"]) as unknown });
  expect(await call({ action: "search", device_name: "tmp" })).toMatchObject({
    kept: ["tmp102"],
    maker: "https://www.ti.com/",
  });
  expect(await call({ action: "read", device_name: "tmp102" })).toEqual({ path: join(FOLDER, "tmp102.pdf") });
  expect(readFileSync(join(FOLDER, "tmp102.pdf"), "utf8")).toBe("%PDF-1.4 tmp");
  await expect(call({ action: "read", device_name: "none" })).rejects.toThrow("There is no data sheet of none.");
});

test.each<[string, Partial<FetchResult>, string]>([
  ["a page", bytes("<!doctype html>"), "not a PDF"],
  ["nothing", {}, "not a PDF"],
  ["the beginning of one", bytes("%PD"), "not a PDF"],
  ["a refusal", { ...bytes("%PDF-1.4"), status: 403 }, "answered 403"],
  ["one that is too large", { ...bytes("%PDF-1.4"), truncated: true }, "larger than 50 MB"],
])("%s is not kept, and the one that was there stays", async (_, answer, message) => {
  await fetched(bytes("%PDF-1.4 tmp"));
  await expect(fetched(answer)).rejects.toThrow(message);
  expect(readFileSync(join(FOLDER, "tmp102.pdf"), "utf8")).toBe("%PDF-1.4 tmp");
  expect(readdirSync(FOLDER).filter((name) => name.includes("part"))).toEqual([]);
});

test("the tool is there while an adapter is plugged in", async () => {
  using root = temporaryHome();
  const survey = () => datasheetsOf(root.path).survey({} as never, new AbortController().signal);
  expect(await survey()).toBe(false);
  const device = join(root.path, "sys/devices/usb1/1-1");
  mkdirSync(device, { recursive: true });
  mkdirSync(join(root.path, "sys/bus/usb/devices"), { recursive: true });
  writeFileSync(join(device, "idVendor"), "2b76\n");
  writeFileSync(join(device, "idProduct"), "0001\n");
  symlinkSync(device, join(root.path, "sys/bus/usb/devices/1-1"));
  expect(await survey()).toBe(true);
  expect(toolIn(root.path, false)).toBeUndefined();
  expect(existsSync(join(root.path, "hardware"))).toBe(false);
});
