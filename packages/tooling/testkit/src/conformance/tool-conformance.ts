/**
 * What every tool keeps. A package joins with a line a tool:
 *
 *     toolConformance(fileRead, { input: { path: "notes.txt" }, files: { "notes.txt": "hello" } });
 */
import { type ErrorCode, SvcError, TOOL_NAME, type Tool } from "@svc/contract";
import { type Check, PROMPT_MS, demand, describeChecks, outcomeOf, errorText } from "../check.ts";
import { type FakeToolContextOptions, fakeToolContext } from "../fake-tool-context.ts";
import { toJsonSchema } from "@valibot/to-json-schema";
import { isDeepStrictEqual } from "node:util";
import * as v from "valibot";

export interface ToolSubject extends FakeToolContextOptions {
  /** An input that works with `files` and the answers given here. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Inputs the schema must refuse, beside those no tool may take. */
  readonly badInputs?: readonly unknown[];
  /** Inputs the schema takes and the call must refuse, with the code of the refusal. */
  readonly refused?: readonly { readonly input: Readonly<Record<string, unknown>>; readonly code: ErrorCode }[];
  /** Largest result as JSON, in bytes. Default 1 MiB. */
  readonly maxResultBytes?: number;
}

export function toolConformance(tool: Tool, subject: ToolSubject): void {
  describeChecks(`tool ${tool.name}`, toolChecks(tool, subject));
}

export const toolChecks = (tool: Tool, subject: ToolSubject): Check[] => [
  ...staticToolChecks(tool),
  ...runToolChecks(tool, subject),
];

// The rules of a tool, as checks.

/** A model takes a description of a few words for none. */
const SHORTEST_DESCRIPTION = 20;
const LARGEST_RESULT_BYTES = 1_048_576;

/** What can be judged without calling it. */
export const staticToolChecks = (tool: Tool): Check[] => [
  {
    name: "its name is [a-z][a-z0-9_]{0,63}",
    run: () => demand(TOOL_NAME.test(tool.name), `the name is ${JSON.stringify(tool.name)}`),
  },
  {
    name: "its description tells the model something",
    run: () => demand(tool.description.trim().length >= SHORTEST_DESCRIPTION, "the description is empty or too short"),
  },
  {
    name: "its approval is auto, ask or a function",
    run: () =>
      demand(["auto", "ask"].includes(tool.approval as string) || typeof tool.approval === "function", "it is neither"),
  },
  {
    name: "its input is an object that converts to JSON Schema",
    run() {
      const schema = toJsonSchema(tool.input, { errorMode: "throw", typeMode: "input" });
      demand(schema.type === "object", "the schema's type is not object");
    },
  },
  {
    name: "its schema refuses what is no object",
    run() {
      for (const bad of [undefined, null, "text", 5, true, []]) {
        // valibot reads [] as an object without keys, which is a sound input where nothing is required.
        if (Array.isArray(bad) && isDeepStrictEqual(parsed(tool, bad), parsed(tool, {}))) continue;
        demand(!v.safeParse(tool.input, bad).success, `${JSON.stringify(bad)} is taken`);
      }
    },
  },
];

const parsed = (tool: Tool, input: unknown): unknown => v.safeParse(tool.input, input).output;

/** What shows when it is called, with fakes around it. */
function runToolChecks(tool: Tool, subject: ToolSubject): Check[] {
  const limitBytes = subject.maxResultBytes ?? LARGEST_RESULT_BYTES;
  const call = (input: unknown, options: FakeToolContextOptions = subject) => {
    const context = fakeToolContext(options);
    return outcomeOf(() => tool.run(v.parse(tool.input, input), context));
  };
  return [
    {
      name: "its schema takes the example and refuses the bad inputs",
      run() {
        demand(v.safeParse(tool.input, subject.input).success, "the example is refused");
        for (const bad of subject.badInputs ?? []) {
          demand(!v.safeParse(tool.input, bad).success, `${JSON.stringify(bad)} is taken`);
        }
      },
    },
    {
      name: "its approval and command line can be told for the example",
      run() {
        const input: unknown = v.parse(tool.input, subject.input);
        const approval = typeof tool.approval === "function" ? tool.approval(input) : tool.approval;
        demand(approval === "auto" || approval === "ask", `the approval is ${String(approval)}`);
        demand(tool.commandLine === undefined || typeof tool.commandLine(input) === "string", "no command line");
      },
    },
    {
      name: "its result is JSON",
      async run() {
        const outcome = await call(subject.input);
        demand(
          outcome.kind === "resolved",
          `the example ${outcome.kind}: ${"error" in outcome ? errorText(outcome.error) : ""}`,
        );
        const text = JSON.stringify(outcome.value) as string | undefined;
        demand(text !== undefined, "the result is nothing that JSON knows");
        demand(isDeepStrictEqual(JSON.parse(text), outcome.value), "the result changes on its way through JSON");
      },
    },
    {
      name: "it rejects at once under an aborted signal",
      async run() {
        const outcome = await call(subject.input, { ...subject, signal: AbortSignal.abort(new Error("called off")) });
        demand(outcome.kind !== "hung", `it goes on for ${PROMPT_MS} ms`);
        demand(outcome.kind === "rejected", "it succeeds");
      },
    },
    {
      name: "it stops waiting when the signal is aborted on the way",
      async run() {
        const controller = new AbortController();
        const running = call(subject.input, { ...subject, signal: controller.signal, hang: true });
        controller.abort(new Error("called off"));
        demand((await running).kind !== "hung", `it goes on for ${PROMPT_MS} ms`);
      },
    },
    {
      name: "its result is bounded, however much there is",
      async run() {
        const outcome = await call(subject.input, { ...subject, huge: true });
        if (outcome.kind === "rejected") return demandSvcError(outcome.error);
        demand(outcome.kind === "resolved", "it hangs");
        const bytes = Buffer.byteLength(JSON.stringify(outcome.value));
        demand(bytes <= limitBytes, `the result has ${bytes} bytes; at most ${limitBytes}`);
      },
    },
    {
      name: "what goes wrong comes out as an SvcError",
      async run() {
        const outcome = await call(subject.input, { ...subject, broken: true });
        if (outcome.kind === "rejected") demandSvcError(outcome.error);
        for (const { input, code } of subject.refused ?? []) {
          const refusal = await call(input);
          demand(refusal.kind === "rejected", `${JSON.stringify(input)} is not refused`);
          demandSvcError(refusal.error);
          demand(
            refusal.error.code === code,
            `${JSON.stringify(input)} is refused with ${refusal.error.code}, not ${code}`,
          );
        }
      },
    },
  ];
}

function demandSvcError(error: unknown): asserts error is SvcError {
  demand(error instanceof SvcError, `it threw ${errorText(error)}, which is no SvcError`);
}
