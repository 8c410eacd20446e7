// A file must arrive as what it is, and what has arrived must not arrive again because something else failed.
import { type OutgoingFile, SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { failure, harness, harnessAndPlatform, message, never } from "./harness.ts";

const file = (kind: OutgoingFile["kind"], mimeType: string, size = 10, name = "a.bin"): OutgoingFile => ({
  kind,
  name,
  mimeType,
  read: () => Promise.resolve(new Uint8Array(size).fill(7)),
});

describe("files", () => {
  test("a picture and a short text are one message: it arrives as a whole or not at all", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.send(message("Look", { files: [file("image", "image/png")] }), never);
    expect(at.platform.sent).toMatchObject([{ type: "image", text: "Look", file: { mimeType: "image/png" } }]);
    expect(at.platform.sent[0]?.file?.bytes).toEqual(new Uint8Array(10).fill(7));
  });

  test("a document keeps its name, and what reads like text goes as text", async () => {
    await using at = await harnessAndPlatform();
    const files = [file("document", "application/pdf", 10, "größe.pdf"), file("document", "text/csv", 10, "t.csv")];
    await at.channel.send(message("", { files: files.slice(0, 1) }), never);
    await at.channel.send(message("", { files: files.slice(1), deliveryId: "delivery-2" }), never);
    expect(at.platform.sent.map(({ body }) => (body["document"] as { filename: string }).filename)).toEqual([
      "größe.pdf",
      "t.csv",
    ]);
    expect(at.platform.sent.map((sent) => sent.file?.mimeType)).toEqual(["application/pdf", "text/plain"]);
  });

  test("a picture that is to arrive as it is goes as a document", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.send(message("", { files: [file("document", "image/png", 10, "plan.png")] }), never);
    expect(at.platform.sent).toMatchObject([{ type: "document", file: { mimeType: "image/png", name: "plan.png" } }]);
  });

  test("more than fits into one message becomes several: the text first", async () => {
    await using at = await harnessAndPlatform();
    const files = [file("audio", "audio/ogg"), file("video", "video/mp4"), file("sticker", "image/webp")];
    const receipt = await at.channel.send(message("All of it", { files }), never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "video", "sticker"]);
    expect(receipt.platformId).toBe(at.platform.sent[0]?.messageId);
  });

  test("a text that is no caption any more goes before its picture", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.send(message("a".repeat(1025), { files: [file("image", "image/png")] }), never);
    expect(at.platform.sent.map(({ type, text }) => [type, text.length])).toEqual([
      ["text", 1025],
      ["image", 0],
    ]);
  });

  test.each([
    ["image", "image/gif", 10],
    ["image", "image/png", 5 * 1_048_576 + 1],
    ["document", "application/zip", 10],
    ["document", "image/png", 5 * 1_048_576 + 1],
    ["sticker", "image/webp", 500 * 1024 + 1],
    ["audio", "audio/mpeg", 0],
  ] as const)(
    "%s of %s with %d bytes is refused; the text arrives all the same, and only once",
    async (kind, type, size) => {
      await using at = await harnessAndPlatform();
      const both = message("Here it is", { files: [file(kind, type, size)] });
      expect(await failure(at.channel.send(both, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
      expect(await failure(at.channel.send(both, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
      expect(at.platform.sent.map(({ text }) => text)).toEqual(["Here it is"]);
    },
  );

  test("a file that can't be read is told as whoever reads it says", async () => {
    await using at = await harnessAndPlatform();
    const gone = {
      ...file("image", "image/png"),
      read: () => Promise.reject(new SvcError("DELIVERY_FAILED", "later")),
    };
    expect(await failure(at.channel.send(message("Look", { files: [gone] }), never))).toMatchObject({
      code: "DELIVERY_FAILED",
    });
    expect(at.platform.sent).toEqual([]);
  });
});

describe("a retry", () => {
  const parts = () => message("text", { files: [file("audio", "audio/ogg"), file("sticker", "image/webp")] });

  test("goes on where the last try stopped, however often that is", async () => {
    await using at = await harnessAndPlatform();
    let posts = 0;
    // Each second message fails at first.
    at.platform.mood = ({ path }) => {
      if (!path.endsWith("/messages")) return "takes";
      posts += 1;
      return posts % 2 === 0 ? { refuses: 500 } : "takes";
    };
    await failure(at.channel.send(parts(), never));
    await failure(at.channel.send(parts(), never));
    const receipt = await at.channel.send(parts(), never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "sticker"]);
    expect(receipt.platformId).toBe(at.platform.sent[0]?.messageId);
  });

  test("goes on also in the process that comes after a kill", async () => {
    await using at = await harnessAndPlatform();
    let posts = 0;
    at.platform.mood = ({ path }) => (path.endsWith("/messages") && (posts += 1) === 2 ? { refuses: 500 } : "takes");
    await failure(at.channel.send(parts(), never));
    const { fetch, state } = at.context;
    await harness({ api_url: at.platform.apiUrl }, { fetch, state }).channel.send(parts(), never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "sticker"]);
  });

  test("of what was never begun begins, and another delivery has nothing to do with it", async () => {
    await using at = await harnessAndPlatform();
    at.platform.mood = { refuses: 503 };
    await failure(at.channel.send(parts(), never));
    at.platform.mood = "takes";
    await at.channel.send(parts(), never);
    await at.channel.send({ ...parts(), deliveryId: "delivery-2" }, never);
    expect(at.platform.sent.map(({ type }) => type)).toEqual(["text", "audio", "sticker", "text", "audio", "sticker"]);
  });

  test("an upload that fails has sent nothing", async () => {
    await using at = await harnessAndPlatform();
    at.platform.mood = ({ path }) => (path.endsWith("/media") ? { refuses: 500 } : "takes");
    expect(await failure(at.channel.send(parts(), never))).toMatchObject({ code: "DELIVERY_FAILED" });
    expect(at.platform.sent).toEqual([]);
  });
});
