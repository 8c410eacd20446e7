// A file that an answer names and that is not sent, sent from outside of the workspace, or sent again with every try.
import type { Inbound, Media } from "@svc/contract";
import { fakeWorkspace } from "@svc/testkit/fake-workspace";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { answerRows, filesInstruction } from "../src/outgoing-rows.ts";
import { platform } from "./delivery-fixture.ts";
import { text } from "@svc/agent/agent-fixture";
import { messagingFixture, said } from "./messaging-fixture.ts";

const media = (sends: Media["sends"], maxBytes = 10): Media => ({
  maxBytes,
  sends,
  fetch: () => Promise.reject(new Error()),
});
const workspace = fakeWorkspace({
  "chart.png": "png",
  "a b/notes.pdf": "pdf",
  "huge.png": "x".repeat(11),
  "song.mp3": "mp3",
});
const all = ["image", "audio", "video", "document"] as const;

async function rowsOf(response: string, sends: Media["sends"] = all) {
  const channel = platform({ media: media(sends) });
  const rows = await answerRows({ channel, agent: "default", workspace }, said("x") as Inbound, "t-1", response);
  return rows.map((row) =>
    row.files.length > 0 ? `<${row.files.map(({ kind, path }) => `${kind} ${path}`).join()}>` : row.text,
  );
}

describe("a line that names a file", () => {
  test.each<[string, string[]]>([
    ["Here:\n[IMAGE:chart.png]\nDone.", ["Here:\nDone.", "<image chart.png>"]],
    ["[IMAGE:chart.png]", ["<image chart.png>"]],
    ["  [DOCUMENT: a b/notes.pdf ]  ", ["<document a b/notes.pdf>"]],
    ["[DOCUMENT:chart.png]", ["<document chart.png>"]],
    ["[IMAGE:song.mp3]\n[AUDIO:song.mp3]", ["<audio song.mp3>", "<audio song.mp3>"]],
    ["a\n[IMAGE:chart.png]\nb\n[AUDIO:song.mp3]", ["a\nb", "<image chart.png>", "<audio song.mp3>"]],
  ])("%j becomes %j", async (response, expected) => {
    expect(await rowsOf(response)).toEqual(expected);
  });

  test.each([
    ["[IMAGE:gone.png]", /\(not sent: there is no .*\)$/],
    ["[IMAGE:../chart.png]", /\(not sent: .*\)$/],
    ["[IMAGE:/etc/passwd]", /\(not sent: .*\)$/],
    ["[IMAGE:huge.png]", /\(not sent: the file is larger than .*\)$/],
  ])("%j stays and says why it is not sent", async (response, expected) => {
    expect(await rowsOf(response)).toEqual([expect.stringMatching(expected)]);
    expect((await rowsOf(response))[0]).toContain(response);
  });

  test.each([
    "See [IMAGE:chart.png] above.",
    "```\n[IMAGE:chart.png]\n```",
    "[image:chart.png]",
    "[STICKER:chart.png]",
    "[IMAGE:a[b].png]",
    "[1] a note",
  ])("%j is only text", async (response) => {
    expect(await rowsOf(response)).toEqual([response]);
  });

  test("where the platform takes no such file stays and says so", async () => {
    const cant = "[IMAGE:chart.png] (not sent: this can't be sent here)";
    expect(await rowsOf("Look:\n[IMAGE:chart.png]", [])).toEqual([`Look:\n${cant}`]);
    expect(await rowsOf("[IMAGE:chart.png]", ["audio"])).toEqual([cant]);
    const rows = await answerRows({ channel: platform(), agent: "a", workspace }, said("x"), "t", "[IMAGE:chart.png]");
    expect(rows.map((row) => row.text)).toEqual([cant]);
  });

  test("is taken at most ten times in one answer", async () => {
    const rows = await rowsOf(Array(12).fill("[IMAGE:chart.png]").join("\n"));
    expect(rows.filter((row) => row.startsWith("<"))).toHaveLength(10);
    expect(rows[0]).toContain("(not sent: too many files)");
  });

  test("whatever else an answer says: no word of it is lost", async () => {
    const line = fc.constantFrom("[IMAGE:chart.png]", "[IMAGE:x]", "```", "word", "", " [AUDIO:song.mp3]");
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 8 }), async (lines) => {
        const rows = await rowsOf(lines.join("\n"));
        const words = (of: readonly string[]) => of.join("\n").split("word").length;
        expect(words(rows)).toBe(words(lines));
        expect(rows.every((row) => row.trim() !== "")).toBe(true);
      }),
    );
  });
});

describe("the agent", () => {
  test("is told how to send files, where it can", () => {
    expect(filesInstruction(platform())).toBeUndefined();
    expect(filesInstruction(platform({ media: media(["sticker"]) }))).toBeUndefined();
    expect(filesInstruction(platform({ media: media(["image", "document"]) }))).toBe(
      "To send a file of the workspace with your answer, write [IMAGE:path] or [DOCUMENT:path] on a line of its own.",
    );
  });

  test("is told behind its own instructions, in turns of such a channel only", async () => {
    const config = { agent: { instructions: "Be brief." } };
    const chat = platform({ media: media(["image"]) });
    using made = messagingFixture({ config, chat, workspace, think: () => [text("Look:\n[IMAGE:chart.png]")] });
    await made.receive(said("draw"));
    const [system] = made.model.asked[0]!.prompt;
    expect(system!.content).toMatch(/^Be brief\.\n\nTo send a file .*\[IMAGE:path\] on a line of its own\.$/s);
    expect(made.chat.asked.map((message) => [message.text, message.files?.map(({ name }) => name)])).toEqual([
      ["Look:", undefined],
      ["", ["chart.png"]],
    ]);
    expect(made.answersTo(1)).toHaveLength(2);
  });
});
