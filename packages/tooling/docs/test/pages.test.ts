// What the pages say of a key, a command and a decision is what people set, type and believe: every fact of the code must
// arrive, and none may turn into markup on the way.
import { defineFeature, ERRORS, EXIT, integer, secret } from "@svc/contract";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { cliPage, EXIT_MEANINGS } from "../src/pages/cli.ts";
import { configPage } from "../src/pages/config.ts";
import { decisionPage, decisions } from "../src/pages/decisions.ts";
import { errorPage } from "../src/pages/errors.ts";

const nothing = new Map<string, string>();

describe("config", () => {
  const feature = defineFeature({
    id: "channel-pager",
    section: "channels_config.pager",
    config: v.strictObject({
      token: v.pipe(secret({ env: "PAGER_TOKEN", envMode: "fallback" }), v.description("Sent with <every> {{reply}}.")),
      retries: v.optional(v.pipe(integer(1, 9), v.metadata({ restart: true })), 3),
      sites: v.optional(v.array(v.strictObject({ name: v.picklist(["a", "b"]) })), []),
    }),
    load: () => Promise.reject(new Error("a page needs no code of a feature")),
  });
  const text = configPage([feature]).render(nothing);
  const keyOf = (name: string): string => new RegExp(`### \`${name}\`\n([^]*?)(?=\n#|$)`).exec(text)?.[1] ?? "";

  test("a key has its type, bounds, default and variable", () => {
    expect(keyOf("gateway.port")).toContain("- Takes: a whole number, 0 to 65535\n- Default: `42617`");
    expect(keyOf("gateway.port")).toContain("- Environment: `SVC__GATEWAY__PORT`\n- **Restart** after a change");
    expect(keyOf("model.provider")).toContain('- Takes: `"builtin"`, `"openai"`, `"anthropic"`, `"openai-compatible"`');
  });

  test("a secret says so, with the variable of its own and when that one counts", () => {
    const token = keyOf("channels_config.pager.token");
    expect(token).toContain("- Default: none; must be set\n");
    expect(token).toContain("`SVC__CHANNELS_CONFIG__PAGER__TOKEN`; `PAGER_TOKEN`, where the file is silent");
    expect(token).toContain("- **Secret**");
    expect(token).not.toContain("**Restart**");
    expect(keyOf("channels_config.pager.retries")).toContain("- Default: `3`");
    expect(keyOf("channels_config.pager.retries")).toContain("**Restart**");
  });

  test("a description is text, not markup of the site", () => {
    expect(text).toContain("Sent with &lt;every> &#123;&#123;reply}}.");
  });

  test("a section names the feature it needs, and a key that every feature has is there", () => {
    expect(text).toContain("## `[channels_config.pager]`\n\nOf `channel-pager`, in a build that has it.\n");
    expect(keyOf("channels_config.pager.enabled")).toContain("- Default: `true`");
  });

  test("records and lists are named by what a person writes; an item of a list has no variable", () => {
    expect(keyOf("agents.<name>.model.name")).toContain("`SVC__AGENTS__<NAME>__MODEL__NAME`");
    expect(text).toContain("## `[agents.<name>]`");
    expect(keyOf("channels_config.pager.sites.\\[\\].name")).toContain('`"a"`, `"b"`');
    expect(keyOf("channels_config.pager.sites.\\[\\].name")).not.toContain("Environment");
  });
});

describe("commands", () => {
  const command = {
    usage: "devices <action>",
    summary: "list or revoke <devices>",
    options: [["--json | --text", "Print {{it}} | not"]] as const,
    examples: ["svc devices list"],
    actions: ["list", "revoke <id>"],
  };
  const text = cliPage([command, { usage: "daemon", summary: "Run", options: [], examples: [] }], EXIT).render(nothing);

  test("every form, option and example is there", () => {
    expect(text).toContain("```text\nsvc devices list [options]\nsvc devices revoke <id> [options]\n```");
    expect(text).toContain("| `--json \\| --text` | Print &#123;&#123;it}} \\| not |");
    expect(text).toContain("```sh\nsvc devices list\n```");
    expect(text).toContain("List or revoke &lt;devices>.");
  });

  test("a command without options and examples shows neither", () => {
    expect(text).toContain("## `svc daemon`\n\nRun.\n\n```text\nsvc daemon\n```\n");
  });

  test("every exit code of the contract has a meaning, and no other", () => {
    expect(Object.keys(EXIT_MEANINGS)).toEqual(Object.keys(EXIT));
  });
});

describe("errors", () => {
  test("every code is there with its status and exit", () => {
    const text = errorPage({ ...ERRORS, ODD: { status: 503, exit: 75, sentence: "Too | <busy>." } }).render(nothing);
    expect(text).toMatch(/\| `ODD` +\| 503 +\| 75 +\| Too \\\| &lt;busy>\. +\|/);
    for (const code of Object.keys(ERRORS)) expect(text).toContain(`\`${code}\``);
  });
});

describe("decisions", () => {
  const files = new Map([
    ["docs/decisions/0002-b.md", "# 0002: second\n\n# Not this\n"],
    ["docs/decisions/0001-a.md", "\n# 0001: first\n"],
    ["docs/decisions/index.md", "# Decisions\n"],
    ["docs/guide/0003-c.md", "# No decision\n"],
  ]);

  test("all of them, by their titles, in order", () => {
    expect(decisions(files)).toEqual([
      { file: "0001-a.md", title: "0001: first" },
      { file: "0002-b.md", title: "0002: second" },
    ]);
    expect(decisionPage.render(files)).toContain("- [0001: first](0001-a.md)\n- [0002: second](0002-b.md)\n");
  });
});
