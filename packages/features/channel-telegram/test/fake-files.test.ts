// Files go up and down by the fake platform as by the real one, in the official client's own forms.
import { TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import { InputFile } from "grammy";
import { describe, expect, test } from "vitest";
import { opened, refusal } from "./fake-fixture.ts";
import { ADA } from "./fixture.ts";

describe("files", () => {
  const PNG = Buffer.from("89504e470d0a1a0a", "hex");

  test("are uploaded by a form, and are what they are sent as", async () => {
    await using at = await opened();
    await at.api.sendPhoto(ADA, new InputFile(PNG, "a b.png"), { caption: "<i>c</i>", parse_mode: "HTML" });
    await at.api.sendDocument(ADA, new InputFile(Buffer.from("text"), "t.txt"));
    expect(at.platform.sent).toMatchObject([
      { text: "c", file: { kind: "photo", name: "a b.png", bytes: PNG } },
      { text: "", file: { kind: "document", name: "t.txt", bytes: Buffer.from("text") } },
    ]);
    const file = new InputFile(Buffer.from("no picture"), "a.png");
    expect(await refusal(at.api.sendPhoto(ADA, file))).toEqual([400, "Bad Request: IMAGE_PROCESS_FAILED"]);
    expect(await refusal(at.api.sendDocument(ADA, new InputFile(Buffer.alloc(0), "e")))).toEqual([
      400,
      "Bad Request: file must be non-empty",
    ]);
  });

  test("are fetched in two steps", async () => {
    await using at = await opened();
    const fileId = at.platform.files.host(PNG);
    const { file_path: path } = await at.api.getFile(fileId);
    const url = `${at.platform.apiUrl}/file/bot${TELEGRAM_TOKEN}/${path}`;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(PNG);
    at.platform.files.expire();
    expect((await fetch(url)).status).toBe(404);
    expect(await refusal(at.api.getFile("unknown"))).toEqual([400, expect.stringContaining("wrong file_id")]);
    const large = at.platform.files.host(Buffer.alloc(20_000_001));
    expect(await refusal(at.api.getFile(large))).toEqual([400, "Bad Request: file is too big"]);
  });
});
