// Files and speech in the message box of the built page: by button, paste and drop; what is shown of them, what can't be sent, and
// what a reload, a lost connection or an expired file leaves.
import { appendFileSync, existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { seriousFindings } from "./fixture/axe.ts";
import { hasChromium, launchWithMicrophone, needChromium } from "./fixture/browser.ts";
import { type Fixture, openFixture } from "./fixture/fixture.ts";
import { type Person, signedIn } from "./fixture/person.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = Buffer.from("%PDF-1.7\n%%EOF\n");
const picture = { name: "cat.png", mimeType: "image/png", buffer: PNG };
const paper = { name: "paper.pdf", mimeType: "application/pdf", buffer: PDF };

let browser: Browser | undefined;
let fixture: Fixture;
const heard: string[] = [];
const speech = createServer(async (request, response) => {
  heard.push((await buffer(request)).toString("latin1"));
  response.setHeader("content-type", "application/json").end(JSON.stringify({ text: "buy milk" }));
});

beforeAll(async () => {
  if (!hasChromium()) return;
  await new Promise<void>((resolve) => speech.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(speech.address() as AddressInfo).port}/v1`;
  const section = `\n[transcription]\nenabled = true\nbase_url = "${url}"\nmodel = "whisper-1"\n`;
  [browser, fixture] = await Promise.all([
    launchWithMicrophone(),
    openFixture((home) => appendFileSync(join(home, "config.toml"), section)),
  ]);
});
beforeEach(needChromium);
afterAll(async () => {
  await browser?.close();
  await fixture?.[Symbol.asyncDispose]();
  speech.close();
});

async function newChat(options: Parameters<typeof signedIn>[2] = {}): Promise<Person> {
  const person = await signedIn(browser!, fixture, options);
  await person.go("chat", "New chat");
  return person;
}

const box = (page: Page) => page.getByRole("textbox", { name: "Message" });
const thread = (page: Page) => page.getByRole("list", { name: "Messages" });
const picked = (page: Page) => page.getByRole("list", { name: "Attached files" });
const sendButton = (page: Page) => page.getByRole("button", { name: "Send", exact: true });

async function choose(page: Page, files: Parameters<ReturnType<Page["locator"]>["setInputFiles"]>[0]): Promise<void> {
  const chooser = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: "Attach files" }).click();
  await (await chooser).setFiles(files);
}

/** Hands files to the page as a person who drags or pastes them does; `into` is a function of the page with the DataTransfer. */
const transferring = (act: string): string => `(async (files) => {
  const data = new DataTransfer();
  for (const { name, type, bytes } of files) data.items.add(new File([Uint8Array.from(bytes)], name, { type }));
  ${act}
})`;
const asArgument = (files: readonly (typeof picture)[]): string =>
  JSON.stringify(files.map(({ name, mimeType, buffer: bytes }) => ({ name, type: mimeType, bytes: [...bytes] })));

test("attaches files by the button: shows a picture in the conversation and a PDF as a chip to download", async () => {
  await using person = await newChat();
  const { page } = person;
  await choose(page, [picture, paper]);
  await picked(page).getByText("paper.pdf").waitFor();
  await expect.poll(() => picked(page).getByRole("progressbar").count()).toBe(0);
  await box(page).fill("look at these");
  await box(page).press("Enter");
  await page.waitForURL(/#\/sessions\//);
  const image = thread(page).getByRole("img", { name: "cat.png" });
  await image.waitFor();
  const width = `document.querySelector('.picture img').naturalWidth`;
  await expect.poll(() => page.evaluate<number>(width)).toBe(1);
  // The model gets their paths; people do not see them.
  await thread(page)
    .getByText(/You said: look at these\s+\[IMAGE:media\/[^\]]+-cat\.png\]/)
    .waitFor();
  const mine = thread(page).getByRole("listitem").filter({ hasText: "look at these" }).first();
  expect(await mine.getByText("[IMAGE:").count()).toBe(0);
  expect(await picked(page).count()).toBe(0);
  await choose(page, paper);
  await picked(page).getByText("paper.pdf").waitFor();
  // The button changes its colour when the file has arrived.
  await expect.poll(() => picked(page).getByRole("progressbar").count()).toBe(0);
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("button", { name: "Remove paper.pdf" }).click();
  const saved = page.waitForEvent("download");
  await thread(page).getByRole("button", { name: "Save paper.pdf" }).click();
  const file = await saved;
  expect([file.suggestedFilename(), readFileSync(await file.path())]).toEqual(["paper.pdf", PDF]);
  await page.reload();
  await thread(page).getByRole("img", { name: "cat.png" }).waitFor();
  person.expectCalm();
});

test("pastes a picture, and prefers text that comes with one", async () => {
  await using person = await newChat();
  const { page } = person;
  await box(page).fill("before ");
  const paste = `document.querySelector("textarea").dispatchEvent(
    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));`;
  await page.evaluate(`${transferring(`data.setData("text/plain", "words"); ${paste}`)}(${asArgument([picture])})`);
  expect(await picked(page).count()).toBe(0);
  await page.evaluate(`${transferring(paste)}(${asArgument([picture])})`);
  await picked(page).getByText("cat.png").waitFor();
  // Without a word.
  await box(page).fill("");
  await sendButton(page).click();
  await page.waitForURL(/#\/sessions\//);
  await thread(page).getByRole("img", { name: "cat.png" }).waitFor();
  person.expectCalm();
});

test("accepts files dropped anywhere on the page, but no links", async () => {
  await using person = await newChat();
  const { page } = person;
  const drag = (type: string): string =>
    `document.body.dispatchEvent(new DragEvent("${type}", { dataTransfer: data, bubbles: true, cancelable: true }));`;
  await page.evaluate(
    `${transferring(`data.setData("text/uri-list", "https://a.example"); ${drag("dragenter")}`)}([])`,
  );
  const zone = page.getByText("Drop files to attach them to the message");
  expect(await zone.count()).toBe(0);
  await page.evaluate(`${transferring(drag("dragenter"))}(${asArgument([picture])})`);
  await zone.waitFor();
  await page.evaluate(`${transferring(drag("dragleave"))}(${asArgument([picture])})`);
  await zone.waitFor({ state: "detached" });
  await page.evaluate(`${transferring(drag("dragenter") + drag("drop"))}(${asArgument([picture, paper])})`);
  await zone.waitFor({ state: "detached" });
  await picked(page).getByText("cat.png").waitFor();
  await picked(page).getByText("paper.pdf").waitFor();
  person.expectCalm();
});

test("removes attachments, restores them after a reload, and explains refused ones", async () => {
  await using person = await newChat();
  const { page } = person;
  await choose(page, [picture, paper]);
  await expect.poll(() => picked(page).getByText(/ B$/).count()).toBe(2);
  await page.reload();
  await picked(page).getByText("paper.pdf").waitFor();
  const deleted = page.waitForResponse((response) => response.request().method() === "DELETE");
  await page.getByRole("button", { name: "Remove cat.png" }).click();
  expect((await deleted).status()).toBe(200);
  expect(await picked(page).getByRole("listitem").count()).toBe(1);
  // A gigabyte, without one on the disk.
  const huge = join(fixture.home, "huge.bin");
  writeFileSync(huge, "");
  truncateSync(huge, 2 ** 30);
  await choose(page, huge);
  await picked(page).getByText("TOO_LARGE").waitFor();
  expect(await sendButton(page).isDisabled()).toBe(true);
  await page.getByText("Remove the file that failed, then send.").waitFor();
  await page.getByRole("button", { name: "Remove huge.bin" }).click();
  // Meanwhile it was sent elsewhere, or has expired.
  const [{ id }] = JSON.parse((await page.evaluate<string>(`sessionStorage.getItem("svc.files.new")`)) ?? "[]") as [
    { id: string },
  ];
  await page.evaluate(
    `sessionStorage.setItem("svc.files.new", ${JSON.stringify(JSON.stringify([{ id: id.replace(/./g, "0"), name: "old.pdf", type: "x", size: 1 }]))})`,
  );
  await page.reload();
  await box(page).fill("with an old one");
  await box(page).press("Enter");
  await page.getByText("FILE_UNKNOWN").waitFor();
  expect(await box(page).inputValue()).toBe("with an old one");
  await page.getByRole("button", { name: "Remove old.pdf" }).click();
  await box(page).press("Enter");
  await thread(page).getByText("You said: with an old one").waitFor();
  person.expectCalm();
});

test("stores a file that is a picture, a page and a script at once, named ../../x, as a picture in the workspace", async () => {
  await using person = await newChat();
  const { page } = person;
  const script = "window.hacked=1";
  const polyglot = Buffer.from(
    `GIF89a/*<!doctype html><script>${script}</script><svg onload="${script}">*/=1;${script}`,
  );
  const evil = { name: "../../x", mimeType: "text/html", buffer: polyglot };
  await page.evaluate(
    `${transferring(`const drop = (type) => document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
      drop("dragenter"); drop("drop");`)}(${asArgument([evil])})`,
  );
  await expect.poll(() => picked(page).getByText(/ B$/).count()).toBe(1);
  await box(page).fill("look at this file");
  await box(page).press("Enter");
  await page.waitForURL(/#\/sessions\//);
  await thread(page)
    .getByText(/You said: look at this file/)
    .waitFor();
  const media = join(fixture.home, "workspace", "media");
  const placed = readdirSync(media, { recursive: true, encoding: "utf8" }).filter((name) => /-x(?:\.gif)?$/.test(name));
  expect(placed).toHaveLength(1);
  expect(readFileSync(join(media, placed[0]!))).toEqual(polyglot);
  expect(["x", "../x", "../../x"].some((path) => existsSync(join(fixture.home, path)))).toBe(false);

  // Opened as a page of its own, loaded as a script, or framed: nothing of it runs.
  const id = /sessions\/([^?]+)/.exec(page.url())![1]!;
  const { messages } = await fixture.api<{ messages: readonly { files: readonly { id: string }[] }[] }>(
    `/api/sessions/${id}/messages`,
  );
  const file = messages.flatMap(({ files }) => files)[0]!.id;
  const answer = await fixture.daemon.request(`/api/sessions/${id}/files/${file}`, { token: fixture.token });
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "image/gif",
    "x-content-type-options": "nosniff",
    "content-security-policy": expect.stringContaining("sandbox"),
  });
  expect(await page.evaluate("window.hacked")).toBe(undefined);
  expect(await page.locator("main :is(script, iframe, svg[onload])").count()).toBe(0);
  person.expectCalm();
});

test("retries and edits a failed message with its picture", async () => {
  await using person = await newChat();
  const { page } = person;
  fixture.refused.add("please fail once");
  await choose(page, picture);
  await box(page).fill("please fail once");
  await expect.poll(() => sendButton(page).isEnabled()).toBe(true);
  await box(page).press("Enter");
  await page.getByRole("button", { name: "Edit and resend" }).click();
  await page.getByLabel("Edited message").fill("and now work");
  await page.getByRole("button", { name: "Resend" }).click();
  await thread(page)
    .getByText(/You said: and now work\s+\[IMAGE:media/)
    .waitFor();
  await thread(page).getByRole("img", { name: "cat.png" }).last().waitFor();
  person.expectCalm();
});

test("records a spoken message, transcribes it into the box, and can be cancelled", async () => {
  await using person = await newChat({ permissions: ["microphone"] });
  const { page } = person;
  await box(page).fill("Please");
  const speak = page.getByRole("button", { name: "Speak a message" });
  await speak.click();
  await page.getByText("Recording", { exact: true }).waitFor();
  await page.getByText("0:01").waitFor();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Recording", { exact: true }).waitFor({ state: "detached" });
  expect([heard.length, await box(page).inputValue()]).toEqual([0, "Please"]);
  await speak.click();
  await page.getByText("0:01").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await expect.poll(() => box(page).inputValue()).toBe("Please buy milk");
  expect(heard[0]).toMatch(/filename="recording\.(?:webm|ogg|mp4)"/);
  expect(heard[0]!.length).toBeGreaterThan(1000);
  expect(await page.locator("textarea:focus").count()).toBe(1);
  person.expectCalm();
});

test("retries an upload and a recording that the network interrupts", async () => {
  await using person = await newChat({ permissions: ["microphone"] });
  const { page } = person;
  await page.route("**/api/files", (route) => route.abort("connectionreset"), { times: 1 });
  await choose(page, paper);
  await picked(page).getByText("UNREACHABLE").waitFor();
  expect(await sendButton(page).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Upload paper.pdf again" }).click();
  await expect.poll(() => picked(page).getByText(/ B$/).count()).toBe(1);

  await page.route("**/api/transcriptions", (route) => route.abort("connectionreset"), { times: 1 });
  await page.getByRole("button", { name: "Speak a message" }).click();
  await page.getByText("0:01").waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  await page.getByText("Not transcribed. The recording is still here.").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await expect.poll(() => box(page).inputValue()).toBe("buy milk");
  await box(page).press("Enter");
  await thread(page).getByRole("button", { name: "Save paper.pdf" }).waitFor();
  person.expectCalm();
});

test("explains a missing or blocked microphone", async () => {
  await using person = await newChat();
  const { page } = person;
  await page.evaluate(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotAllowedError"))`,
  );
  await page.getByRole("button", { name: "Speak a message" }).click();
  await page.getByText("The microphone is not allowed for this page").waitFor();
  await page.evaluate(
    `navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("", "NotFoundError"))`,
  );
  await page.getByRole("button", { name: "Speak a message" }).click();
  await page.getByText("There is no microphone.").waitFor();
  expect(await box(page).isEnabled()).toBe(true);
  person.expectCalm();
});

test("keeps the width of the box and its controls in reach on a phone", async () => {
  await using person = await newChat({ viewport: { width: 360, height: 720 } });
  const { page } = person;
  await choose(page, [picture, paper]);
  await picked(page).getByText("paper.pdf").waitFor();
  const width = (await box(page).boundingBox())!.width;
  expect(width).toBeGreaterThan(300);
  for (const name of ["Attach files", "Speak a message", "Send", "Remove cat.png"]) {
    const place = (await page.getByRole("button", { name, exact: true }).boundingBox())!;
    const isInside = place.x >= 0 && place.x + place.width <= 360 && place.y + place.height <= 720;
    expect([name, isInside]).toEqual([name, true]);
  }
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
  await box(page).fill("from the phone");
  await sendButton(page).click();
  await page.waitForURL(/#\/sessions\//);
  await thread(page).getByRole("img", { name: "cat.png" }).waitFor();
  await thread(page).getByRole("button", { name: "Save paper.pdf" }).waitFor();
  expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(360);
  person.expectCalm();
});
