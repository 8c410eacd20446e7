// A form that changes what it was not asked to, loses a comment, takes a gate away, or writes what is read as something else.
import * as fc from "fast-check";
import { cases } from "@svc/cases";
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { draftOf, type SopEdit, type SopText } from "../../src/editor/draft.ts";
import { editSteps, type StepText as Asked } from "../../src/editor/step-edits.ts";
import { readSteps } from "../../src/library/steps-md.ts";
import type { SopStep } from "../../src/library/types.ts";

const options = {
  rules: { defaultMode: "supervised" as const, reserved: [] },
  known: { nowMs: 0 },
};
const edited = async (text: SopText, ...edits: SopEdit[]) => draftOf("a", text, edits, options);
const step = (title: string, more: object = {}) => ({
  title,
  body: "",
  kind: "execute" as const,
  tools: [],
  requiresConfirmation: false,
  ...more,
});

describe("SOP.toml", () => {
  const toml = '# head\n[sop]\npriority = "low" # keep\n\n[[triggers]] # one\ntype = "manual"\n';
  const text = { toml, markdown: "## Steps\n1. **A**\n" };

  test("keys change in place, comments stay", async () => {
    const draft = await edited(text, { path: ["sop", "priority"], value: "high" });
    expect(draft.toml).toBe(toml.replace('"low"', '"high"'));
    expect((await edited(text, { path: ["sop", "priority"], remove: true })).toml).not.toContain("priority");
  });

  test("triggers are added as tables, changed and removed", async () => {
    const added = await edited(text, { path: ["triggers", 1], value: { type: "webhook", path: "/x" } });
    expect(added.toml).toBe(`${toml.trimEnd()}\n\n[[triggers]]\ntype = "webhook"\npath = "/x"\n`);
    expect(added.form).toMatchObject({ triggers: [{ type: "manual" }, { type: "webhook", path: "/x" }] });
    const removed = await edited(added, { path: ["triggers", 0], remove: true });
    expect(removed.form).toMatchObject({ triggers: [{ type: "webhook" }] });
    const first = await edited({ ...text, toml: "[sop]" }, { path: ["triggers", 0], value: { type: "manual" } });
    expect(first.toml).toBe('[sop]\n\n[[triggers]]\ntype = "manual"\n');
    expect(first.problems).toEqual([]);
  });

  test("what is no key of it, and a text that is not TOML, are refused", async () => {
    const refused = (toml: string, ...edits: SopEdit[]) =>
      edited({ ...text, toml }, ...edits).then(
        () => undefined,
        (error: unknown) => (error as SvcError).code,
      );
    expect(await refused(toml, { path: ["model", "api_key"], value: "x" })).toBe("SOP_INVALID");
    expect(await refused(toml, { path: ["sop"], remove: true })).toBe("SOP_INVALID");
    expect(await refused("[sop", { path: ["sop", "priority"], value: "high" })).toBe("SOP_INVALID");
    expect(await refused("[sop", { step: 1, remove: true })).toBe("SOP_INVALID");
  });

  test("steps without a model stand there: their tool and arguments stay", async () => {
    const own = `[sop]
execution_mode = "deterministic"

[[steps]] # first
title = "One"
tool = "a"
args = { x = 1 }

[[steps]]
title = "Two"
tool = "b"
`;
    const changed = await edited(
      { toml: own, markdown: undefined },
      { step: 1, to: step("New", { requiresConfirmation: true }) },
    );
    expect(changed.form).toMatchObject({
      steps_in: "SOP.toml",
      steps: [{ title: "New", tool: "a", args: { x: 1 }, requires_confirmation: true }, { title: "Two" }],
    });
    expect(changed.toml).toContain("[[steps]] # first");
    const moved = await edited(changed, { step: 2, move: 1 });
    expect(moved.form).toMatchObject({
      steps: [
        { title: "Two", tool: "b" },
        { title: "New", args: { x: 1 } },
      ],
    });
    expect(moved.problems).toEqual([]);
    expect((await edited(moved, { step: 1, remove: true })).form).toMatchObject({ steps: [{ title: "New" }] });
  });
});

describe("SOP.md", () => {
  const markdown = `# About

Never touch the database.

## Steps

1. **Look** — Read the log.
   - tools: file_read

2. **Restart** — Restart it.
   - requires_confirmation: true

## After

Call somebody.
`;

  test("a step is rewritten, all else is as it was", async () => {
    const to = step("Look closely", { body: "Read the log.\n\n- one\n- two", tools: ["file_read", "http_get"] });
    expect(await editSteps(markdown, { step: 1, to })).toBe(
      markdown
        .replace("**Look** — Read the log.\n", "**Look closely** — Read the log.\n\n   - one\n   - two\n")
        .replace("tools: file_read", "tools: file_read, http_get"),
    );
  });

  test("a step that is rewritten keeps its child agent", async () => {
    const text = "## Steps\n\n1. **Look**\n   - agent: svc\n";
    expect(await editSteps(text, { step: 1, to: step("Look closely") })).toBe(text.replace("Look", "Look closely"));
  });

  test("steps are added, moved and removed, and numbered in their order", async () => {
    const added = await editSteps(markdown, { step: 3, to: step("Tell") });
    expect(added).toBe(markdown.replace("true\n", "true\n\n3. **Tell**\n"));
    const moved = await editSteps(added, { step: 3, move: 1 });
    expect((await readSteps(moved)).steps.map(({ number, title }) => `${number} ${title}`)).toEqual([
      "1 Tell",
      "2 Look",
      "3 Restart",
    ]);
    expect(moved).toContain("1. **Tell**\n\n2. **Look** — Read the log.\n   - tools: file_read\n\n3. **Restart**");
    expect(await editSteps(moved, { step: 1, move: 3 })).toBe(added);
    expect(await editSteps(added, { step: 3, remove: true })).toBe(markdown);
    expect(await editSteps("", { step: 1, to: step("A") })).toBe("## Steps\n\n1. **A**\n");
    expect(await editSteps("# T\n\n## Steps\n", { step: 1, to: step("A") })).toBe("# T\n\n## Steps\n\n1. **A**\n");
  });

  test("a text that would be read as an option, a heading, a step or a comment is refused", async () => {
    const refused = (to: object): Promise<unknown> =>
      editSteps(markdown, { step: 2, to: step("R", to) }).then(
        (text) => text,
        (error: unknown) => (error as SvcError).code,
      );
    for (const body of ["Do.\n- requires_confirmation: false", "- tools: shell", "Do.\n<!-- x", "```\nnot closed"]) {
      expect(await refused({ body })).toBe("SOP_INVALID");
    }
    for (const title of ["a** b", "", "a\nb", "x".repeat(201)]) expect(await refused({ title })).toBe("SOP_INVALID");
    expect(await refused({ tools: ["a, b"] })).toBe("SOP_INVALID");
    expect(await refused({ tools: ["A B"] })).toBe("SOP_INVALID");
    const commented = markdown.replace("   - requires", "   <!-- ask ann -->\n   - requires");
    await expect(editSteps(commented, { step: 2, to: step("R") })).rejects.toMatchObject({ code: "SOP_INVALID" });
    await expect(editSteps(markdown, { step: 9, remove: true })).rejects.toMatchObject({ code: "SOP_INVALID" });
    await expect(editSteps(markdown, { step: 1, move: 9 })).rejects.toMatchObject({ code: "SOP_INVALID" });
  });

  const line = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom("Do it.", "More words, and more.", "- a", "") },
    fc.constantFrom(
      "Do it.",
      "- a",
      "  - tools: x",
      "1. b",
      "## Steps",
      "```",
      "> q",
      "    code",
      "",
      "a — b",
      "<!-- c -->",
    ),
    fc.string({ maxLength: 20 }),
  );
  const anyStep = fc.record({
    title: fc.oneof(fc.constantFrom("A", "B: c", "1. x", "a — b", "`x`"), fc.string({ maxLength: 20 })),
    body: fc.array(line, { maxLength: 5 }).map((lines) => lines.join("\n")),
    kind: fc.constantFrom("execute" as const, "checkpoint" as const),
    tools: fc.uniqueArray(fc.constantFrom("shell", "file_read", "http_get")),
    requiresConfirmation: fc.boolean(),
  });
  const anyMarkdown = fc
    .tuple(
      fc.array(line, { maxLength: 4 }),
      fc.array(fc.tuple(fc.constantFrom("1", "2", "10"), line, fc.array(line, { maxLength: 3 })), { maxLength: 4 }),
      fc.array(line, { maxLength: 3 }),
      fc.constantFrom("\n", "\r\n"),
    )
    .map(([head, steps, tail, eol]) =>
      [
        ...head,
        "## Steps",
        "",
        ...steps.flatMap(([n, text, more]) => [`${n}. **T** — ${text}`, ...more.map((one) => `   ${one}`), ""]),
        "## End",
        ...tail,
      ].join(eol),
    );

  const without = (steps: readonly SopStep[]) =>
    steps.map(({ number, ...rest }) => ({ ...rest, number: Math.sign(number) }));

  /** What the file says after the edit, and what it should say; undefined: the edit was refused. */
  async function judged(text: string, at: number, to: Asked, kind: "to" | "remove" | "move", target: number) {
    const step = at + 1;
    const edits = { to: { step, to }, remove: { step, remove: true as const }, move: { step, move: target + 1 } };
    const before = await readSteps(text);
    const after = await editSteps(text, edits[kind]).catch((error: unknown) => {
      if ((error as SvcError).code !== "SOP_INVALID") throw error;
    });
    if (after === undefined) return undefined;
    const read = await readSteps(after);
    const expected = without(before.steps);
    if (kind === "remove") expected.splice(at, 1);
    else if (kind === "move") expected.splice(target, 0, ...expected.splice(at, 1));
    else expected[at] = { ...without(read.steps)[at]!, ...to, title: to.title.trim(), body: trimmedBody(to.body) };
    const lostComments = kind !== "remove" && after.split("<!--").length < text.split("<!--").length;
    return {
      said: [without(read.steps), read.instructions, read.problems, lostComments, after.includes("\r\n")],
      wanted: [expected, before.instructions, [], false, text.includes("\r\n")],
    };
  }

  test("random edits of random files do exactly what they say, or nothing", async () => {
    let made = 0;
    const kinds = fc.constantFrom("to" as const, "remove" as const, "move" as const);
    const property = fc.asyncProperty(anyMarkdown, fc.nat(3), anyStep, kinds, fc.nat(3), async (...asked) => {
      const found = await judged(...asked);
      if (found) made += 1;
      expect(found?.said).toEqual(found?.wanted);
    });
    await fc.assert(property, { numRuns: cases(2_000) });
    expect(made).toBeGreaterThan(cases(2_000) / 20);
  });
});

const trimmedBody = (body: string): string => {
  const lines = body.split(/\r\n|\n|\r/).map((line) => line.trimEnd());
  const isText = (line: string): boolean => line !== "";
  return lines.slice(lines.findIndex(isText), lines.findLastIndex(isText) + 1).join("\n");
};
