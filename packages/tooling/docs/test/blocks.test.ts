// What these comments say decides whether a command of the guide is tested at all. One that is misread, or silently not read,
// turns a test off and nobody sees it.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Block, readBlocks } from "./guide/blocks.ts";

const only = (text: string): Block => {
  const [first, ...more] = readBlocks("a.md", text);
  expect(more).toEqual([]);
  if (first?.kind !== "block") throw new Error("there is no block");
  return first;
};

describe("a block", () => {
  test("without a comment is run, and must end with 0", () => {
    expect(only("# A\n\n```sh\nsvc status\nsvc pair\n```\n")).toEqual({
      kind: "block",
      page: "a.md",
      line: 4,
      language: "sh",
      text: "svc status\nsvc pair",
      prints: [],
      exits: 0,
      types: [],
      remembers: [],
    });
  });

  test("is what the comments above it say", () => {
    const block = only(
      [
        "<!-- prints: a => b -->",
        "<!-- prints: c -->",
        "<!-- exits: 69 -->",
        "<!-- types: Name? => kitchen => x -->",
        "<!-- remembers: 123456 = code: (\\d+) = x -->",
        "<!-- keeps-running: listening on -->",
        "",
        "~~~sh",
        "```",
        "~~~",
      ].join("\n"),
    );
    expect(block).toMatchObject({
      text: "```",
      prints: ["a => b", "c"],
      exits: 69,
      types: [["Name?", "kitchen => x"]],
      remembers: [["123456", /code: (\d+) = x/m]],
      keepsRunning: "listening on",
    });
  });

  test("has the comments above it, and not those of another", () => {
    const [first, second] = readBlocks("a.md", "<!-- not-run: why -->\n\n```sh\na\n```\n\n```sh\nb\n```\n");
    expect(first).toMatchObject({ text: "a", notRun: "why" });
    expect(second).not.toHaveProperty("notRun");
  });
});

test("what the page does between blocks is a step of its own", () => {
  expect(readBlocks("a.md", "<!-- ctrl-c -->\n\ntext\n\n<!-- stands-in: svc daemon => listening -->\n")).toMatchObject([
    { kind: "ctrl-c", line: 1 },
    { kind: "block", line: 5, text: "svc daemon", keepsRunning: "listening", language: "sh" },
  ]);
});

test.each([
  ["<!-- not-rum: why -->\n```sh\na\n```", "is none of"],
  ["<!-- skip -->\n```sh\na\n```", "is none of"],
  ["<!-- not-run: -->\n```sh\na\n```", "is none of"],
  ["<!-- types: Name -->\n```sh\na\n```", 'has no "=>"'],
  ["<!-- exits: 1 -->\n\ntext\n\n```sh\na\n```", "belongs to a block"],
  ["```sh\na\n```\n<!-- exits: 1 -->\n", "belongs to a block"],
  ["<!-- exits:\n1 -->\n```sh\na\n```", "has one line"],
  ["```sh\na\n", "does not end"],
  ["<!-- exits: one -->\n```sh\na\n```", "no exit code"],
])("fails: %j", (text, message) => {
  expect(() => readBlocks("a.md", text)).toThrow(message);
});

test("no block is lost or changed, whatever is in it and around it", () => {
  const line = fc.string({ maxLength: 20 }).filter((text) => !/[\n\r]|^\s*(?:`{3,}|~{3,})|^<!--/.test(text));
  const body = fc.array(line, { maxLength: 4 });
  fc.assert(
    fc.property(fc.array(fc.tuple(body, body), { maxLength: 5 }), (parts) => {
      const page = parts.map(([text, code]) => [...text, "```sh", ...code, "```"].join("\n")).join("\n");
      const blocks = readBlocks("a.md", page);
      expect(blocks.map((block) => block.kind === "block" && block.text)).toEqual(
        parts.map(([, code]) => code.join("\n")),
      );
    }),
  );
});
