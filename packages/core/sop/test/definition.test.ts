// What an operator writes wrongly in SOP.toml must be told before it runs, all of it at once, with its line and without a word of
// what was written; and what is right must be loaded as it stands.
import { cases } from "@svc/cases";
import * as fc from "fast-check";
import { formatProblems } from "@svc/config";
import { describe, expect, test } from "vitest";
import { checkSop, type DefinitionRules } from "../src/library/definition.ts";

const RULES: DefinitionRules = { defaultMode: "supervised", reserved: ["/health", "/assets/"] };
const MARKDOWN = "# Deploy\n\nBe careful.\n\n## Steps\n\n1. **Look** — at it\n";

/** `null`: there is no SOP.md. */
const check = (toml: string, markdown: string | null = MARKDOWN, rules = RULES) =>
  checkSop({ folder: "/w/sops/deploy", toml, markdown: markdown ?? undefined }, rules, { nowMs: Date.UTC(2026, 0, 1) });

/** Lines as a person sees them. */
const told = async (toml: string, markdown?: string | null, rules = RULES): Promise<string[]> => {
  const { problems, definition } = await check(toml, markdown, rules);
  expect(definition === undefined).toBe(problems.length > 0);
  return problems.length === 0 ? [] : formatProblems(problems).split("\n");
};

describe("a good one", () => {
  test("has defaults for all it does not say", async () => {
    const { definition, problems, warnings } = await check("[sop]\n");
    expect(problems).toEqual([]);
    expect(warnings.map(({ message }) => message)).toEqual([expect.stringContaining("nothing starts it")]);
    expect(definition).toEqual({
      name: "deploy",
      description: "",
      version: "",
      priority: "normal",
      mode: "supervised",
      cooldownMs: 0,
      maxConcurrent: 1,
      agent: undefined,
      triggers: [],
      steps: [{ number: 1, title: "Look", body: "at it", kind: "execute", requiresConfirmation: false, tools: [] }],
      instructions: "# Deploy\n\nBe careful.",
    });
  });

  test("is loaded as it is written", async () => {
    const toml = `
      [sop]
      name = "deploy"
      description = "Brings it out"
      version = "1.2"
      priority = "high"
      execution_mode = "deterministic"
      cooldown_secs = 60
      max_concurrent = 3
      agent = "ops"
      [[triggers]]
      type = "webhook"
      path = "/sop/deploy"
      condition = '$.ref == "main"'
      [[triggers]]
      type = "cron"
      expression = "0 9 * * 1-5"
      timezone = "Europe/Berlin"
      [[triggers]]
      type = "channel_event"
      event = "build_done"
      [[triggers]]
      type = "mqtt"
      topic = "home/+/door/#"
      condition = '$.open == true'
      [[triggers]]
      type = "peripheral"
      board = "pico0"
      signal = "pin_3"
      [[triggers]]
      type = "manual"
      [[steps]]
      title = "Fetch"
      tool = "http_get"
      args = { url = "https://a.example", n = "$.n", list = [1, "$$.n"] }
      trusted_input = true
      [[steps]]
      title = "Wait"
      kind = "checkpoint"`;
    const { definition, problems, warnings } = await check(toml.replaceAll("\n", "\r\n"), null);
    expect([...problems, ...warnings]).toEqual([]);
    expect(definition).toMatchObject({
      priority: "high",
      mode: "deterministic",
      cooldownMs: 60_000,
      maxConcurrent: 3,
      agent: "ops",
      triggers: [
        { type: "webhook", path: "/sop/deploy", condition: '$.ref == "main"' },
        { type: "cron", expression: "0 9 * * 1-5", timezone: "Europe/Berlin", condition: undefined },
        { type: "channel_event", event: "build_done" },
        { type: "mqtt", topic: "home/+/door/#", condition: "$.open == true" },
        { type: "peripheral", board: "pico0", signal: "pin_3" },
        { type: "manual" },
      ],
      steps: [
        {
          title: "Fetch",
          tools: ["http_get"],
          call: {
            tool: "http_get",
            trustedInput: true,
            args: { url: "https://a.example", n: "$.n", list: [1, "$$.n"] },
          },
        },
        { title: "Wait", kind: "checkpoint", tools: [] },
      ],
      instructions: "",
    });
    expect(JSON.parse(JSON.stringify(definition))).toMatchObject({ name: "deploy" });
  });

  test("has what SOP.md says beside its steps, also when they stand in the TOML", async () => {
    const { definition } = await check('[sop]\n[[steps]]\ntitle = "a"\n', "Be careful.\n");
    expect(definition).toMatchObject({ instructions: "Be careful.", steps: [{ title: "a" }] });
  });
});

describe("a wrong one", () => {
  test("is told all at once, in the order of the files, with line, key and what would be right", async () => {
    const toml = [
      "[sop]",
      'name = "other"',
      'priority = "hihg"',
      "cooldown_secs = -1",
      "max_concurent = 2",
      "",
      "[[triggers]]",
      'type = "webhok"',
      "[[triggers]]",
      'type = "cron"',
      'expression = "61 * * * *"',
      'timezone = "Mars/Base"',
      'condition = "$.a = 1"',
    ].join("\n");
    const markdown = "## Steps\n\n1. **a**\n   - kind: chekpoint\n";
    expect(await told(toml, markdown)).toEqual([
      "SOP.toml:2  sop.name: must be the folder's name, or left out",
      'SOP.toml:3  sop.priority: must be one of the values allowed; did you mean "high"? (allowed: low, normal, high, critical)',
      "SOP.toml:4  sop.cooldown_secs: must be a whole number (allowed: 0 to 3153600000)",
      expect.stringMatching(
        /^SOP\.toml:5 {2}sop\.max_concurent: unknown key; did you mean "max_concurrent"\? \(allowed: /,
      ),
      expect.stringMatching(
        /^SOP\.toml:8 {2}triggers\[0\]\.type: must be one of the values allowed; did you mean "webhook"\?/,
      ),
      "SOP.toml:11  triggers[1].expression: is no cron expression: a field has a value or form that cron does not know",
      "SOP.toml:12  triggers[1].timezone: is no time zone; one is like Europe/Berlin or UTC",
      "SOP.toml:13  triggers[1].condition: is no condition: equality is written ==",
      expect.stringMatching(/^SOP\.md:4:4 {2}must be one of the values allowed; did you mean "checkpoint"\?/),
    ]);
  });

  test.each([
    ["", /sop: is required/],
    ["sop = 1", /sop: must be a table/],
    ["[sop\n", /SOP\.toml:1:\d+ {2}\S/],
    ["[sop]\nversion = 1", /version: must be text/],
    ["[sop]\nmax_concurrent = 0", /max_concurrent: .*1 to/],
    ["[sop]\n[steps]\na = 1", /steps: must be a list/],
    ["[sop]\n[nonsense]", /unknown section/],
    ['[sop]\n[[triggers]]\ntype = "webhook"', /SOP\.toml:2 {2}triggers\[0\]\.path: is required for a webhook trigger/],
    ['[sop]\n[[triggers]]\ntype = "cron"', /expression: is required/],
    ['[sop]\n[[triggers]]\ntype = "channel_event"\nevent = " "', /event: must be one line of text/],
    [
      '[sop]\n[[triggers]]\ntype = "manual"\npath = "/a"',
      /SOP\.toml:4 {2}triggers\[0\]\.path: a manual trigger takes none/,
    ],
    ['[sop]\n[[triggers]]\ntype = "webhook"\npath = "/a"\ntimezone = "UTC"', /timezone: a webhook trigger takes none/],
    ['[sop]\n[[triggers]]\npath = "/a"', /type: is required/],
    ['[sop]\n[[triggers]]\ntype = "mqtt"', /SOP\.toml:2 {2}triggers\[0\]\.topic: is required for an mqtt trigger/],
    ['[sop]\n[[triggers]]\ntype = "mqtt"\ntopic = "a/#/b"', /SOP\.toml:4 {2}triggers\[0\]\.topic: may have # only/],
    ['[sop]\n[[triggers]]\ntype = "mqtt"\ntopic = "a#"', /topic: may have # only as its last level/],
    ['[sop]\n[[triggers]]\ntype = "mqtt"\ntopic = "a/b+/c"', /topic: may have \+ only as a whole level/],
    ['[sop]\n[[triggers]]\ntype = "mqtt"\ntopic = "$share/g/a"', /topic: must be a topic filter without \$share/],
    ['[sop]\n[[triggers]]\ntype = "mqtt"\ntopic = "a"\nboard = "b"', /board: an mqtt trigger takes none/],
    ['[sop]\n[[triggers]]\ntype = "peripheral"\nboard = "pico0"', /signal: is required for a peripheral trigger/],
    ['[sop]\n[[triggers]]\ntype = "peripheral"\nboard = "a/b"\nsignal = "s"', /board: must be a name of letters/],
    ['[sop]\n[[triggers]]\ntype = "cron"\nexpression = "2026-05-01T00:00:00Z"', /five fields/],
    ['[sop]\n[[triggers]]\ntype = "cron"\nexpression = "@reboot"', /five fields/],
    ['[sop]\n[[steps]]\ntitle = "a"', /SOP\.toml:2 {2}steps: the steps stand in SOP\.md too/],
    ['[sop]\nexecution_mode = "deterministic"', /execution_mode: deterministic runs need steps with a tool/],
  ])("%j", async (toml, message) => {
    expect(await told(toml)).toEqual([expect.stringMatching(message)]);
  });

  test.each([
    ["a", /begin with/],
    ["/a?b=1", /without a query/],
    ["/a#b", /without a query/],
    ["/a b", /as it stands in a URL/],
    ["/ü", /as it stands in a URL/],
    ["/a/../b", /as it stands in a URL/],
    ["/api", /of the service itself/],
    ["/api/x", /of the service itself/],
    ["/health", /of the service itself/],
    ["/assets/a.js", /of the service itself/],
  ])("the path %s", async (path, message) => {
    const toml = `[sop]\n[[triggers]]\ntype = "webhook"\npath = ${JSON.stringify(path)}\n`;
    expect(await told(toml)).toEqual([expect.stringMatching(message)]);
  });

  test.each(["/webhook", "/provider-a", "/healthy", "/assets", "/a%20b", "/apis", "/a//b", "/A"])(
    "the path %s is one",
    async (path) => {
      expect(await told(`[sop]\n[[triggers]]\ntype = "webhook"\npath = "${path}"\n`)).toEqual([]);
    },
  );

  test.each([
    ['title = "a"', /SOP\.toml:3 {2}steps\[0\]\.tool: is required in deterministic mode/],
    ['title = "a"\nkind = "checkpoint"\ntool = "x"', /tool: a checkpoint only waits/],
    ['title = "a"\ntool = "x"\nagent = "svc"', /agent: a child agent has a model/],
    ['title = "a"\nkind = "checkpoint"\nagent = "svc"', /agent: a checkpoint only waits/],
    ['title = "a"\ntool = "x"\nargs = { at = 2026-01-01T00:00:00Z }', /args\.at: a date belongs in quotes/],
    ['title = "a"\ntool = "x"\nargs = { a = [{ n = inf }] }', /args\.a\[0\]\.n: must be a number that JSON has/],
    ['title = "a"\ntool = "x"\nargs = { n = 99999999999999999999 }', /args\.n: must be a number that JSON has/],
    ['title = "a"\ntool = "x"\nargs = { __proto__ = 1 }', /this name can't be used/],
    ['title = "a"\ntool = "X Y"', /tool: must be a tool's name/],
    ['title = " "\ntool = "x"', /title: must be one line of text/],
    ['title = "a\\nb"\ntool = "x"', /title: must be one line of text/],
  ])("the step %j", async (step, message) => {
    const toml = `[sop]\nexecution_mode = "deterministic"\n[[steps]]\n${step}\n`;
    expect(await told(toml, "")).toEqual([expect.stringMatching(message)]);
  });

  test("the default mode is looked at too", async () => {
    const toml = '[sop]\n[[steps]]\ntitle = "a"\nargs = { a = 1 }\n';
    expect(await told(toml, "")).toEqual([expect.stringMatching(/args: belongs to a tool/)]);
    expect(await told(toml, "", { ...RULES, defaultMode: "deterministic" })).toEqual([
      expect.stringMatching(/tool: is required/),
    ]);
  });

  test("no steps, and too many", async () => {
    const { problems } = await check("[sop]\n", null);
    expect(problems).toMatchObject([{ file: "/w/sops/deploy/SOP.toml", message: expect.stringContaining("no steps") }]);
    expect(await told("[sop]\nname = 1\n", "")).toEqual([
      "SOP.toml:2  sop.name: must be text",
      expect.stringMatching(/^SOP\.md {2}there are no steps/),
    ]);
    expect(await told("[sop]\n", "## Steps\n\nnone\n")).toEqual([
      expect.stringMatching(/^SOP\.md {2}there is no step/),
    ]);
    expect(await told("[sop]\n", `## Steps\n${"1. a\n".repeat(201)}`)).toEqual([
      expect.stringContaining("more than 200"),
    ]);
    expect(await told(`[sop]\n${'[[triggers]]\ntype = "manual"\n'.repeat(101)}`)).toEqual([
      expect.stringMatching(/triggers/),
    ]);
  });

  test("what was written is not repeated: it may be a secret in the wrong place", async () => {
    const secret = "hunter2-hunter2";
    for (const toml of [
      `[sop]\nname = "${secret}"\npriority = "${secret}"`,
      `[sop]\n[[triggers]]\ntype = "webhook"\npath = "${secret}"\ncondition = "${secret}"`,
      `[sop]\n[[triggers]]\ntype = "cron"\nexpression = "${secret} * * * *"\ntimezone = "${secret}"`,
      `[sop]\nname = "${secret}`,
    ]) {
      const lines = await told(toml);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.join("\n")).not.toContain(secret);
    }
  });
});

test("whatever stands in the two files, it is loaded or told, and never thrown", async () => {
  const line = fc.oneof(
    fc.constantFrom(
      "[sop]",
      "[[triggers]]",
      "[[steps]]",
      'type = "cron"',
      'type = "webhook"',
      'path = "/a"',
      "path = 1",
      "args = { a = nan }",
    ),
    fc.constantFrom(
      'title = "a"',
      "[sop.x]",
      "steps = []",
      "triggers = [1]",
      'expression = "* * * * *"',
      "name = {}",
      "[constructor]",
    ),
    fc.string({ unit: "binary", maxLength: 12 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), fc.string(), async (lines, markdown) => {
      const { definition, problems } = await check(lines.join("\n"), `## Steps\n1. a\n${markdown}`);
      expect(definition === undefined).toBe(problems.length > 0);
    }),
    { numRuns: cases(200) },
  );
});

// Whoever may write to the workspace must not be able to end the service with a file: some of these took all memory or stack.
describe("a file made to do harm is told like any other", () => {
  const full = (piece: string): string => piece.repeat(Math.floor((256 * 1024 - 100) / piece.length));
  test.each([
    ["a key of a hundred thousand parts", `[sop]\n${full("a.")}a=1`, MARKDOWN],
    ["lists in lists", `[sop]\na=${full("[")}`, MARKDOWN],
    ["tables in tables", `[sop]\n[[steps]]\nargs=${"{a=".repeat(20_000)}1${"}".repeat(20_000)}`, ""],
    ["ten thousand wrong triggers", `[sop]\n${full("[[triggers]]\n")}`, MARKDOWN],
    ["a hundred thousand tools", "[sop]\n", `## Steps\n1. a\n   - tools: ${full("A,")}`],
    ["a hundred thousand steps", "[sop]\n", `## Steps\n${full("1.\n")}`],
  ])("%s", async (_name, toml, markdown) => {
    const { problems } = await check(toml, markdown);
    expect(problems.length).toBeGreaterThan(0);
    expect(problems.length).toBeLessThan(205);
  });
});

describe("tools that must not be had one without the other", () => {
  const rules: DefinitionRules = { ...RULES, toolPairs: [{ tool: "stop", beside: "drive" }] };
  const step = (more: string): string => `[sop]\n[[steps]]\ntitle = "Go"\n${more}\n`;

  test("a step of SOP.toml that can drive and not stop is refused at its line", async () => {
    const wrong = [expect.stringMatching(/SOP\.toml:4 .*a step that has drive needs stop too/)];
    expect(await told(step('tools = ["drive"]'), null, rules)).toEqual(wrong);
    // A model does the step, with the tool that is named.
    expect(await told(step('tool = "drive"'), null, rules)).toEqual(wrong);
  });

  test("a step of SOP.md too", async () => {
    const markdown = "# Tour\n\n## Steps\n\n1. **Look** — around\n2. **Go** — there\n   - tools: drive_status, drive\n";
    expect(await told("[sop]\n", markdown, rules)).toEqual([
      expect.stringMatching(/SOP\.md:6[: ].*a step that has drive needs stop too/),
    ]);
  });

  test("with both, without the rule, or as one bounded call it is taken", async () => {
    expect(await told(step('tools = ["drive", "stop"]'), null, rules)).toEqual([]);
    expect(await told(step('tools = ["stop"]\ntool = "drive"'), null, rules)).toEqual([]);
    expect(await told(step('tools = ["drive"]'), null)).toEqual([]);
    const deterministic = '[sop]\nexecution_mode = "deterministic"\n[[steps]]\ntitle = "Go"\ntool = "drive"\n';
    expect(await told(deterministic, null, rules)).toEqual([]);
  });
});
