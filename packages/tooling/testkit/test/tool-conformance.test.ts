// toolConformance must fail for a tool that breaks a rule: one deliberately broken fake per rule.
import { defineTool, SvcError, type Json, type Tool, type ToolContext } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { toolChecks, type ToolSubject } from "../src/conformance/tool-conformance.ts";
import { brokenRules } from "./broken-names.ts";

const input = v.strictObject({ path: v.string() });
type Input = v.InferOutput<typeof input>;

async function readFile({ path }: Input, context: ToolContext): Promise<Json> {
  if (path === "secret.txt") throw new SvcError("PATH_FORBIDDEN");
  const { bytes, truncated } = await context.workspace.read(path, 100_000);
  return { text: new TextDecoder().decode(bytes), truncated };
}

const sound = defineTool({
  name: "fake_read",
  description: "Reads a text file of the workspace.",
  input,
  approval: "auto",
  run: readFile,
});

const subject: ToolSubject = {
  input: { path: "a.txt" },
  files: { "a.txt": "hello" },
  badInputs: [{ path: 5 }, { path: "a.txt", more: 1 }],
  refused: [{ input: { path: "secret.txt" }, code: "PATH_FORBIDDEN" }],
};

const running = (run: (input: Input, context: ToolContext) => Promise<unknown>): Partial<Tool> => ({
  run: run as never,
});
const never = () => new Promise<never>(() => undefined);

const BROKEN: [fake: string, tool: Partial<Tool>, subject: Partial<ToolSubject>, rule: string][] = [
  ["a name with capitals", { name: "FakeRead" }, {}, "its name is [a-z][a-z0-9_]{0,63}"],
  ["a name of 65", { name: "a".repeat(65) }, {}, "its name is [a-z][a-z0-9_]{0,63}"],
  ["no description", { description: "" }, {}, "its description tells the model something"],
  ["an unknown approval", { approval: "always" as never }, {}, "its approval is auto, ask or a function"],
  ["an input that is no object", { input: v.string() }, {}, "its input is an object that converts to JSON Schema"],
  [
    "an input JSON Schema can't say",
    { input: v.strictObject({ path: v.string(), at: v.optional(v.date()) }) },
    {},
    "its input is an object that converts to JSON Schema",
  ],
  ["an input that takes anything", { input: v.any() }, {}, "its schema refuses what is no object"],
  [
    "an example that doesn't fit",
    {},
    { input: { file: "a.txt" } },
    "its schema takes the example and refuses the bad inputs",
  ],
  [
    "unknown keys taken",
    { input: v.object(input.entries) },
    {},
    "its schema takes the example and refuses the bad inputs",
  ],
  [
    "an approval that is told as something else",
    { approval: (() => undefined) as never },
    {},
    "its approval and command line can be told for the example",
  ],
  [
    "a command line that is none",
    { commandLine: (() => ["a"]) as never },
    {},
    "its approval and command line can be told for the example",
  ],
  ["undefined for a result", running(async () => undefined), {}, "its result is JSON"],
  ["a Date in the result", running(async () => ({ at: new Date(0) })), {}, "its result is JSON"],
  ["undefined in the result", running(async () => ({ a: undefined })), {}, "its result is JSON"],
  ["a result that hangs", running(never), {}, "its result is JSON"],
  ["an aborted signal overlooked", running(async () => "done"), {}, "it rejects at once under an aborted signal"],
  [
    "waiting that goes on after an abort",
    running((input, context) => readFile(input, context).catch(never)),
    {},
    "it stops waiting when the signal is aborted on the way",
  ],
  [
    "everything there is returned",
    running(async ({ path }, context) => new TextDecoder().decode((await context.workspace.read(path, 1e9)).bytes)),
    {},
    "its result is bounded, however much there is",
  ],
  [
    "a whole folder returned",
    running(async (_, context) => (await context.workspace.list(".", 1e9)).entries),
    {},
    "its result is bounded, however much there is",
  ],
  [
    "a whole answer returned",
    running(async (_, context) => new TextDecoder().decode((await context.fetch("https://example.org")).bytes)),
    {},
    "its result is bounded, however much there is",
  ],
  [
    "all output returned",
    running(async (_, context) => (await context.exec({ command: "cat" })).stdout),
    {},
    "its result is bounded, however much there is",
  ],
  [
    "errors of any class",
    running(async (input, context) => readFile(input, context).catch(() => Promise.reject(new TypeError("broken")))),
    {},
    "what goes wrong comes out as an SvcError",
  ],
  [
    "a refusal that isn't one",
    {},
    { refused: [{ input: { path: "a.txt" }, code: "PATH_FORBIDDEN" }] },
    "what goes wrong comes out as an SvcError",
  ],
  [
    "a refusal of another code",
    {},
    { refused: [{ input: { path: "secret.txt" }, code: "TOOL_REFUSED" }] },
    "what goes wrong comes out as an SvcError",
  ],
];

describe("toolConformance", () => {
  test("a sound tool breaks no rule", async () => {
    expect(await brokenRules(toolChecks(sound as Tool, subject))).toEqual([]);
  });

  test.each(BROKEN)("%s", async (_, tool, own, rule) => {
    expect(await brokenRules(toolChecks({ ...(sound as Tool), ...tool }, { ...subject, ...own }))).toContain(rule);
  });

  test("every rule has a fake that breaks it", () => {
    const rules = new Set(BROKEN.map(([, , , rule]) => rule));
    expect(
      toolChecks(sound as Tool, subject)
        .map(({ name }) => name)
        .filter((name) => !rules.has(name)),
    ).toEqual([]);
  });
});
