// What a person sees of a tool call: a command as it is, a file's change line by line, nothing secret, nothing without end.
import { expect, test } from "vitest";
import { detailOf } from "../../src/approvals/ask-for-tool.ts";

const redact = (text: string): string => text.replaceAll("s3cret", "••••••");
const about = { tool: "file_write", agent: "default", reason: "It acts." };
const written = (before: Parameters<typeof change>[0], text: string, mode: "replace" | "append" = "replace") =>
  change(before, text, mode).change!;
function change(before: string | "missing" | undefined, text: string, mode: "replace" | "append") {
  const was = before === undefined ? ({ kind: "missing" } as const) : ({ kind: "text", text: before } as const);
  const input = { path: "a.md", content: text, mode };
  return detailOf({ ...about, input, change: { path: "a.md", mode, before: was, written: text } }, redact);
}

test("a change is its lines, with those around it; what is far away is left out", () => {
  const before = Array.from({ length: 30 }, (_, n) => `line ${n}`);
  const after = before.with(15, "other");
  expect(written(before.join("\n"), after.join("\n"))).toMatchObject({
    lines: ["@", " line 12", " line 13", " line 14", "-line 15", "+other", " line 16", " line 17", " line 18", "@"],
    added: 1,
    removed: 1,
    cut: 0,
  });
});

test("a new file, an empty one, the same one, and what is added at the end", () => {
  expect(written(undefined, "a\nb\n")).toMatchObject({ before: "missing", lines: ["+a", "+b"] });
  expect(written("a\n", "")).toMatchObject({ lines: ["-a"] });
  expect(written("a\n", "a\n")).toMatchObject({ added: 0, removed: 0 });
  expect(written("a\n", "b\n", "append")).toMatchObject({ lines: ["+b"], removed: 0 });
});

test("of very much, the beginning is shown, and how much is not", () => {
  const many = Array.from({ length: 100_000 }, (_, n) => `${n}`).join("\n");
  const { lines, added, cut } = written("x\n", many);
  expect([lines.length, added, cut]).toEqual([400, 100_000, 100_001 - 400]);
  expect(written(undefined, "x".repeat(100_000)).lines[0]).toHaveLength(1_000);
});

test("secrets are in none of it, the old text included", () => {
  const detail = change("token = s3cret\n", "token = s3cret2\n", "replace");
  expect(JSON.stringify(detail)).not.toContain("s3cret");
  const run = detailOf(
    { ...about, tool: "shell", input: { command: "echo s3cret" }, command: "echo s3cret", folder: "." },
    redact,
  );
  expect(run).toEqual({ ...about, tool: "shell", summary: "echo ••••••", command: "echo ••••••" });
});

test("arguments that the command does not tell are shown beside it", () => {
  const input = { command: "ls", cwd: "sub", timeout_secs: 5 };
  expect(detailOf({ ...about, input, command: "ls", folder: "sub" }, redact)).toMatchObject({
    summary: "ls (in sub)",
    folder: "sub",
    input: '{\n  "timeout_secs": 5\n}',
  });
});
