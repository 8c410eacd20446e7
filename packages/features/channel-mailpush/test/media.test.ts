// Files of a mail: found again although their ids change, whole, never larger than they may be.
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { base64Field } from "../src/attachments.ts";
import { closePlatforms, connected, never, NEWEST } from "./open-channel.ts";

afterEach(closePlatforms);

const pdf = { name: "paper.pdf", mimeType: "application/pdf", bytes: Buffer.from("%PDF-1.7 …") };

async function withFiles(files: readonly { name: string; mimeType: string; bytes: Uint8Array }[], mail: object = {}) {
  const opened = await connected();
  opened.platform.arrive({ from: "ada@example.org", text: "See there", files, ...mail });
  await opened.channel.onNotice(NEWEST, never);
  const [inbound] = opened.context.received;
  const fetched = async (index: number) => {
    const chunks: Uint8Array[] = [];
    const got = await opened.channel.media.fetch(
      inbound!.media![index]!,
      async (chunk) => void chunks.push(chunk.slice()),
      never,
    );
    return { got, bytes: Buffer.concat(chunks) };
  };
  return { ...opened, inbound, fetched };
}

test("are named in the text, in their order, and fetched by their place in the mail", async () => {
  const voice = { name: "a]\r\n[b.mp3", mimeType: "audio/mpeg", bytes: Buffer.alloc(70_000, 7) };
  const { inbound, fetched, platform } = await withFiles([pdf, voice]);
  expect(inbound).toMatchObject({
    text: "See there\n\n[file 1: paper.pdf]\n\n[file 2: a b.mp3]",
    media: [
      { kind: "document", mimeType: "application/pdf", fileName: "paper.pdf", placeholder: "[file 1: paper.pdf]" },
      { kind: "audio", mimeType: "audio/mpeg", fileName: "a b.mp3", placeholder: "[file 2: a b.mp3]" },
    ],
  });
  expect(await fetched(0)).toEqual({ got: { mimeType: "application/pdf" }, bytes: pdf.bytes });
  expect((await fetched(1)).bytes.equals(voice.bytes)).toBe(true);
  platform.expireTokens();
  await expect(fetched(0)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
});

test("a file alone is a message; of very many the first twenty are named", async () => {
  const { inbound } = await withFiles(
    Array.from({ length: 23 }, (_, index) => ({ ...pdf, name: `${index}.pdf` })),
    { text: "" },
  );
  expect(inbound?.media).toHaveLength(20);
  expect(inbound?.text).toMatch(/^\[file 1: 0\.pdf\][^]*\[3 more files\]$/);
});

test("a small file inside of the answer, and one that has no name", async () => {
  const data = Buffer.from("hello").toString("base64url");
  const inline = {
    partId: "1",
    mimeType: "text/calendar",
    filename: "",
    headers: [{ name: "Content-Disposition", value: "attachment" }],
    body: { size: 5, data },
  };
  const { inbound, fetched } = await withFiles([], {
    text: "",
    payload: { mimeType: "multipart/mixed", filename: "", body: { size: 0 }, parts: [inline] },
  });
  expect(inbound?.text).toBe("[file 1: without a name]");
  expect((await fetched(0)).bytes.toString()).toBe("hello");
});

test("a file, or a mail, that is gone is refused", async () => {
  const { platform, inbound, fetched, channel } = await withFiles([pdf]);
  const media = inbound!.media![0]!;
  const other = channel.media.fetch({ ...media, ref: `${inbound!.id}/9` }, async () => undefined, never);
  await expect(other).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
  platform.remove(inbound!.id!);
  await expect(fetched(0)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
});

test("base64 inside of JSON comes out whole, however it is cut up on its way", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }),
      fc.constantFrom("base64", "base64url"),
      fc.constantFrom('{"size":1,"data":"', '{ "attachmentId": "data",\n  "data" : "', '{"data":"'),
      async (bytes, sizes, encoding, beginning) => {
        const answer = Buffer.from(`${beginning}${Buffer.from(bytes).toString(encoding as "base64")}","x":"data"}`);
        const got: Uint8Array[] = [];
        const field = base64Field("data", 1000, async (chunk) => void got.push(chunk.slice()));
        for (let at = 0, index = 0; at < answer.length; index += 1) {
          const size = sizes[index % sizes.length]!;
          await field.take(answer.subarray(at, at + size));
          at += size;
        }
        field.end(bytes.length);
        expect(Buffer.concat(got).equals(bytes)).toBe(true);
      },
    ),
  );
});

test("what is cut off, or more than was said, is not taken for whole", async () => {
  const take = async (answer: string, maxBytes: number, sizeBytes: number) => {
    const field = base64Field("data", maxBytes, async () => undefined);
    await field.take(Buffer.from(answer));
    field.end(sizeBytes);
  };
  await expect(take('{"data":"QUJD', 10, 3)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await expect(take('{"data":"QUJD"}', 10, 4)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await expect(take('{"error":"x"}', 10, 0)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  await expect(take('{"data":"QUJD"}', 2, 3)).rejects.toMatchObject({ code: "MEDIA_REFUSED" });
});
