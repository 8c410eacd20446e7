// A file that says it is a picture and is a page: what it is taken for is what a browser does with it.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isRasterImage, shownName, sniffType, uploadPath } from "../src/attachments.ts";

const PNG = "89504e470d0a1a0a";

test.each([
  [`${PNG}0000000d49484452`, "image/png"],
  ["ffd8ffe000104a464946", "image/jpeg"],
  [hexOf("GIF89a"), "image/gif"],
  [hexOf("RIFF____WEBPVP8 "), "image/webp"],
  [hexOf("RIFF____WAVEfmt "), "audio/wav"],
  [hexOf("RIFF____AVI LIST"), "application/octet-stream"],
  [hexOf("\0\0\0\x18ftypavif"), "image/avif"],
  [hexOf("\0\0\0\x18ftypheic"), "image/heic"],
  [hexOf("\0\0\0\x18ftypM4A "), "audio/mp4"],
  [hexOf("\0\0\0\x18ftypisom"), "video/mp4"],
  [`1a45dfa3${hexOf("....webm....A_OPUS")}`, "audio/webm"],
  [`1a45dfa3${hexOf("....webm....V_VP9....A_OPUS")}`, "video/webm"],
  [`1a45dfa3${hexOf("....matroska....V_MPEG4")}`, "video/x-matroska"],
  ["1a45dfa300000000", "application/octet-stream"],
  [hexOf("OggS\0\x02....OpusHead"), "audio/ogg"],
  [hexOf("OggS\0\x02....\x80theora"), "video/ogg"],
  [hexOf("ID3\x04\0"), "audio/mpeg"],
  ["fffb9064", "audio/mpeg"],
  ["fffbffff", "application/octet-stream"],
  ["fff15080", "audio/aac"],
  [hexOf("fLaC\0"), "audio/flac"],
  [hexOf("%PDF-1.7"), "application/pdf"],
  ["504b030414", "application/zip"],
  ["1f8b0800", "application/gzip"],
  [hexOf("hello\r\n\tworld"), "text/plain"],
  [Buffer.from("Grüße, 世界").toString("hex"), "text/plain"],
  [hexOf("<!doctype html><script>alert(1)</script>"), "text/plain"],
  [hexOf('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'), "text/plain"],
  [hexOf("hello\0world"), "application/octet-stream"],
  ["c3", "application/octet-stream"],
  ["", "text/plain"],
])("%s is %s", (hex, type) => {
  expect(sniffType(Buffer.from(hex, "hex"))).toBe(type);
});

test("a long text whose 4096th byte is in the middle of a character is a text", () => {
  expect(sniffType(Buffer.from(`a${"é".repeat(4096)}`).subarray(0, 4096))).toBe("text/plain");
});

test("a page that begins like a picture is a picture, and one that has a picture further on is not", () => {
  const html = "<script>alert(1)</script>";
  expect(isRasterImage(sniffType(Buffer.concat([Buffer.from(PNG, "hex"), Buffer.from(html)])))).toBe(true);
  expect(isRasterImage(sniffType(Buffer.concat([Buffer.from(html), Buffer.from(PNG, "hex")])))).toBe(false);
});

test("whatever the bytes are, the type is one of the list, and only pictures are drawn", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      const type = sniffType(bytes);
      expect(type).toMatch(
        /^(?:image|audio|video)\/[a-z0-9-]+$|^text\/plain$|^application\/(?:octet-stream|pdf|zip|gzip)$/,
      );
      expect(isRasterImage(type)).toBe(/^image\/(?:png|jpeg|gif|webp|avif)$/.test(type));
    }),
    { numRuns: cases(1000) },
  );
});

test.each([
  ["../../x", "x"],
  ["..\\..\\x.png", "x.png"],
  ["a/b/", "file"],
  ["..", "file"],
  ["", "file"],
  ["a\r\nSet-Cookie: x", "aSet-Cookie: x"],
  ["photo\u202Egnp.exe", "photognp.exe"],
  ["x".repeat(500), "x".repeat(120)],
])("the name %j is shown as %j", (name, shown) => {
  expect(shownName(name)).toBe(shown);
});

test("whatever the name is, the path is one file below the media folder", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (name) => {
      const path = await uploadPath({ id: "00ff", name: shownName(name), type: "image/png", at: 0 });
      expect(path).toMatch(/^media\/1970-01-01\/00ff-[\p{L}\p{M}\p{N}._-]+$/u);
    }),
    { numRuns: cases(500) },
  );
});

function hexOf(latin1: string): string {
  return Buffer.from(latin1, "latin1").toString("hex");
}
