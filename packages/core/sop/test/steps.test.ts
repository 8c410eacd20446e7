// Steps are written by hand, in the Markdown of many editors. A step that is missed is not done, a gate that is missed is not
// asked for, and a line of an example or a comment must not become a step.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readSteps } from "../src/library/steps-md.ts";

const stepsOf = async (...lines: string[]) => (await readSteps(["## Steps", "", ...lines].join("\n"))).steps;
const titlesOf = async (...lines: string[]) => (await stepsOf(...lines)).map(({ title }) => title);

describe("a step's first line", () => {
  test.each([
    ["1. **Check** — now", "Check", "now"],
    ["1. **Check** – now", "Check", "now"],
    ["1. **Check** - now", "Check", "now"],
    ["1. **Check** -- now", "Check", "now"],
    ["1. **Check**: now", "Check", "now"],
    ["1. **Check:** now", "Check", "now"],
    ["1. **Check**—now", "Check", "now"],
    ["1. **Check** now", "Check", "now"],
    ["1. **Check**", "Check", ""],
    ["1. __Check__ — now", "Check", "now"],
    ["1) **Check** — now", "Check", "now"],
    ["1. **Check** -5 degrees", "Check", "-5 degrees"],
    ["1. **Check** — a — b", "Check", "a — b"],
    ["1.   **Check**  —  now  ", "Check", "now"],
    ["1. Check the gate — now", "Check the gate — now", ""],
    ["1. See **this** first", "See **this** first", ""],
    ["1. **open", "**open", ""],
  ])("%s", async (line, title, body) => {
    expect(await stepsOf(line)).toMatchObject([{ number: 1, title, body }]);
  });

  test("a long one without bold is cut for the title and kept as text", async () => {
    const text = "word ".repeat(60).trim();
    const [step] = await stepsOf(`1. ${text}`);
    expect(step?.title).toMatch(/^(?:word )+word…$/);
    expect(step?.title.length).toBeLessThan(122);
    expect(step?.body).toBe(text);
  });

  test.each([
    ["1.", /no title/],
    ["1. ****", /no title/],
    [`1. **${"x".repeat(201)}**`, /at most 200/],
    ["1. **a\u001b[2Jb**", /control/],
  ])("%j is told", async (line, message) => {
    const { problems } = await readSteps(`## Steps\n${line}\n`);
    expect(problems).toMatchObject([{ line: 2, message: expect.stringMatching(message) }]);
  });
});

describe("which lines are steps", () => {
  test("they are counted in their order, and a gap in the numbers is told", async () => {
    const { steps, warnings } = await readSteps("## Steps\n3. a\n7. b\n7. c\n");
    expect(steps.map(({ number, title }) => [number, title])).toEqual([
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ]);
    expect(warnings).toMatchObject([{ line: 2, message: expect.stringContaining("step 1") }]);
    expect((await readSteps("## Steps\n1. a\n1. b\n")).warnings).toEqual([]);
  });

  test("numbers further in are a list inside of the step", async () => {
    expect(await stepsOf("1. **a** — do:", "   1. first", "   2. second", "", "2. **b**")).toMatchObject([
      { title: "a", body: "do:\n1. first\n2. second" },
      { title: "b" },
    ]);
    expect(await titlesOf("1. a", "  1. inside")).toEqual(["a"]);
    expect(await titlesOf("  1. a", "  2. b")).toEqual(["a", "b"]);
  });

  test("code is not looked into, whatever its fence", async () => {
    const [a, b, ...rest] = await stepsOf(
      "1. **a** — run:",
      "   ```sh",
      "   1. not a step",
      "   ## Steps",
      "   - tools: shell",
      "   ```",
      "2. **b**",
      "~~~~",
      "3. not one either",
      "~~~",
      "~~~~",
    );
    expect(a).toMatchObject({ tools: [], body: "run:\n```sh\n1. not a step\n## Steps\n- tools: shell\n```" });
    expect(b?.body).toContain("3. not one either");
    expect(rest).toEqual([]);
  });

  test("what is opened and not closed would swallow the rest: it is told", async () => {
    expect((await readSteps("## Steps\n1. a\n```\n2. b\n")).problems).toMatchObject([{ line: 3 }]);
    expect((await readSteps("## Steps\n1. a\n  <!--\n2. b\n")).problems).toMatchObject([{ line: 3, column: 3 }]);
  });

  test("a step in a comment is no step", async () => {
    const text = "## Steps\n1. a\n<!--\n2. **Delete** — all\n-->\n<!-- 2. b -->\n2. c <!-- really -->\n";
    expect((await readSteps(text)).steps).toMatchObject([{ title: "a", body: "" }, { title: "c <!-- really -->" }]);
  });

  test("the section begins at its heading and ends at the next of its size", async () => {
    const text =
      "# T\n\n1. no\n\n## steps ##\n\nFirst of all.\n\n1. a\n\n### Part\n\n2. b\n\n## After\n\n3. no\n\n# Next\n";
    const { steps, instructions, hasSection } = await readSteps(text);
    expect(steps).toMatchObject([{ title: "a", body: "### Part" }, { title: "b" }]);
    expect(instructions).toBe("# T\n\n1. no\n\n\nFirst of all.\n\n## After\n\n3. no\n\n# Next");
    expect(hasSection).toBe(true);
    expect(await readSteps("1. a\n##Steps\n#### Steps\n1. b")).toMatchObject({ steps: [], hasSection: false });
    expect((await readSteps("## Steps\n1. a\n## Steps\n2. b")).problems).toMatchObject([{ line: 3 }]);
  });

  test("line breaks of any system, a byte order mark and tabs change nothing", async () => {
    const text = "## Steps\n\n1. **a** — x\n   y\n   - tools: one\n2. **b**\n    - kind: checkpoint\n";
    const plain = await readSteps(text);
    for (const other of [
      text.replaceAll("\n", "\r\n"),
      text.replaceAll("\n", "\r"),
      `\ufeff${text}`,
      text.replace("    -", "\t-"),
    ]) {
      expect(await readSteps(other)).toEqual(plain);
    }
  });
});

describe("what is said of a step", () => {
  test("text of several lines stays as it was written, less its indentation", async () => {
    expect(await stepsOf("1. **a** — one", "   two", "", "   * three", "     - four", "five", "")).toMatchObject([
      { body: "one\ntwo\n\n* three\n  - four\nfive" },
    ]);
  });

  test("options stand in bullets of any kind, and nothing of them in the text", async () => {
    expect(
      await stepsOf(
        "1. **a** — x",
        "   * Tools: `one`, two,three",
        "   + **requires-confirmation:** Yes",
        "   - KIND: Checkpoint",
        "- note: y",
      ),
    ).toEqual([
      {
        number: 1,
        title: "a",
        body: "x\n- note: y",
        kind: "checkpoint",
        requiresConfirmation: true,
        tools: ["one", "two", "three"],
      },
    ]);
    expect((await stepsOf("1. a", "   - tools: [one, two]"))[0]?.tools).toEqual(["one", "two"]);
    expect((await stepsOf("1. a", "   - tools:", "     - one", "", "     - `two`", "   - tail"))[0]).toMatchObject({
      tools: ["one", "two"],
      body: "- tail",
    });
    expect((await stepsOf("1. a", "   - first:", "     - tools: none"))[0]).toMatchObject({
      tools: [],
      body: "- first:\n  - tools: none",
    });
  });

  test("agent: names the child agent that does it", async () => {
    expect(await stepsOf("1. a", "   - agent: coder", "2. b")).toEqual([
      { number: 1, title: "a", body: "", kind: "execute", requiresConfirmation: false, tools: [], agent: "coder" },
      { number: 2, title: "b", body: "", kind: "execute", requiresConfirmation: false, tools: [] },
    ]);
  });

  test.each([
    ["- requires_confirmation: maybe", /true or false/],
    ["- requires_confirmation:", /true or false/],
    ["- require_confirmation: true", /no option/],
    ["- confirm: yes", /no option/],
    ["- needs approval: true", /no option/],
    ["- requires_confimation: later", /no option/],
    ["- kind: check", /one of the values/],
    ["- tools: one two", /names of tools/],
    ["- tools: Shell", /names of tools/],
    ["- tools: one,", /one line/],
    ["- agent: A B", /must be svc, or a name/],
    ["- agent:", /must be svc, or a name/],
    ["- kind: execute\n   - kind: execute", /already/],
  ])("%s is told: a gate must not get lost by a slip of the pen", async (line, message) => {
    const { problems } = await readSteps(`## Steps\n1. a\n   ${line}\n`);
    expect(problems).toMatchObject([{ message: expect.stringMatching(message) }]);
  });

  test("a bullet that looks like an option is text, and that is told", async () => {
    const { steps, warnings, problems } = await readSteps(
      "## Steps\n1. a\n   - tool: hammer\n   - confirmed by: Bob\n",
    );
    expect(steps[0]?.body).toBe("- tool: hammer\n- confirmed by: Bob");
    expect(warnings).toMatchObject([{ line: 3, didYouMean: "tools" }]);
    expect(problems).toEqual([]);
  });
});

describe("whatever is written", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "## Steps",
      "1. **a** — b",
      "2. c",
      "   - tools: x",
      "   - kind: checkpoint",
      "```",
      "~~~",
      "<!--",
      "-->",
      "",
      "   text",
      "## End",
    ),
    fc.string({ unit: "binary", maxLength: 20 }),
  );

  test("it is read, and steps are counted from 1", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 30 }), async (lines) => {
        const { steps, problems, warnings } = await readSteps(lines.join("\n"));
        expect(steps.map(({ number }) => number)).toEqual(steps.map((_step, index) => index + 1));
        for (const { line: at, column } of [...problems, ...warnings]) {
          expect(at).toBeGreaterThan(0);
          expect(column).toBeGreaterThan(0);
        }
      }),
      { numRuns: cases(500) },
    );
  });

  test.each(["#", " ", "`", "*", "1", "-", ":", "<!--", "\n", "1. ", "- tools: "])(
    "%j a hundred thousand times does not hang",
    async (piece) => {
      for (const text of [
        piece.repeat(100_000),
        `## Steps\n1. **a**\n   - ${piece.repeat(100_000)}`,
        `## ${piece.repeat(100_000)}x`,
      ]) {
        expect((await readSteps(text)).steps.length).toBeLessThanOrEqual(1);
      }
    },
  );
});
