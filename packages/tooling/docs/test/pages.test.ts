// What the pages say of a key, a command and a decision is what people set, type and believe: every fact of the code must
// arrive, and none may turn into markup on the way.
import { join } from "node:path";
import { defineFeature, ERRORS, EXIT, integer, secret } from "@svc/contract";
import { CORE_ROUTES } from "@svc/gateway/openapi";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { readDocument } from "../src/code/document.ts";
import { anchorsOf } from "../src/markdown.ts";
import { cliPage, EXIT_MEANINGS } from "../src/pages/cli.ts";
import { configPage } from "../src/pages/config.ts";
import { decisionPage, decisions } from "../src/pages/decisions.ts";
import { errorPage } from "../src/pages/errors.ts";
import { httpPage } from "../src/pages/http.ts";
import { openApiPage } from "../src/pages/openapi.ts";
import { readmePage } from "../src/pages/readme.ts";
import { noteOf, shapeOf } from "../src/pages/shape.ts";

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

describe("http", () => {
  const text = { type: "string" };
  const error = { type: "object", properties: { error: text, code: text }, required: ["error", "code"] };
  const codes = { type: "object", properties: { code: { enum: ["BUSY", "LOST"] } } };
  const document = {
    info: { description: "Every error has a <body>." },
    components: { schemas: { Error: error } },
    paths: {
      "/things/{id}": {
        post: {
          summary: "Makes {{a}} thing.",
          description: "Needs a token of scope operator or read.",
          security: [{ bearer: [] }],
          parameters: [
            { name: "id", in: "path", required: true, description: "Its | id.", schema: { ...text, maxLength: 9 } },
          ],
          requestBody: {
            required: false,
            content: { "application/json": { schema: { type: "object", properties: {} } } },
          },
          responses: {
            200: { description: "It.", content: { "application/json": { schema: error } }, headers: { ETag: {} } },
            304: { description: "The caller has it." },
            429: {
              description: "- `BUSY`: Wait.\n- `LOST`: Wait.",
              content: { "application/json": { schema: codes } },
            },
            500: { description: "Something | went\nwrong." },
            default: { description: "Anything else." },
          },
        },
      },
    },
  };

  test("the overview leads to the route, and says who may", () => {
    const page = httpPage(document).render(nothing);
    expect(page).toContain(
      "| [`POST /things/{id}`](openapi.md#post-thingsid) | operator or read | Makes &#123;&#123;a}} thing.",
    );
    expect(page).toContain("Every error has a &lt;body>.");
    expect(anchorsOf(openApiPage(document).render(nothing))).toContain("post-thingsid");
  });

  test("a route has its parameters, body, answers and codes", () => {
    const page = openApiPage(document).render(nothing);
    expect(page).toMatch(/\| `id` +\| path \| `string` At most 9 characters\. +\| Its \\\| id\. +\|/);
    expect(page).toContain("Body (`application/json`, may be left out):");
    expect(page).toContain("**200**: It. Headers: `ETag`.\n\n```shape\n{\n  error: string\n  code: string\n}\n```\n");
    expect(page).toContain("**304**: The caller has it.\n");
    expect(page).toContain("| 429   | `BUSY`, `LOST`           |\n| 500   | Something \\| went wrong. |");
    expect(page).not.toContain("Anything else");
  });

  test("every route of the core is on both pages", () => {
    const real = readDocument(join(import.meta.dirname, "../../../.."));
    const [overview, whole] = [httpPage(real), openApiPage(real)].map((page) => page.render(nothing));
    for (const { method, path } of CORE_ROUTES) {
      expect(overview).toContain(`\`${method} ${path}\``);
      expect(whole).toContain(`## \`${method} ${path}\``);
    }
  });
});

describe("shapes", () => {
  test.each([
    [{}, "any"],
    [{ type: "integer" }, "number"],
    [{ const: true }, "true"],
    [{ enum: ["a", "b"], type: "string" }, '"a" | "b"'],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ type: "array", items: { anyOf: [{ type: "string" }, { type: "null" }] } }, "(string | null)[]"],
    [{ type: "array" }, "any[]"],
    [{ type: "object" }, "object"],
    [{ $ref: "#/components/schemas/Error" }, "Error"],
    [{ type: "object", additionalProperties: { type: "number" } }, "{\n  [name]: number\n}"],
    [
      {
        type: "object",
        properties: { "a-b": { type: "array", items: { type: "object", properties: { c: { enum: [1, 2] } } } } },
      },
      '{\n  "a-b"?: {\n    c?: 1 | 2\n  }[]\n}',
    ],
  ])("%j", (schema, shape) => {
    expect(shapeOf(schema)).toBe(shape);
  });

  test("a key says what it means and what it takes", () => {
    expect(noteOf({ description: "Of this.", format: "date-time" })).toBe("Of this. date-time");
    expect(noteOf({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).toBe("");
    expect(noteOf({ minimum: 1, maximum: 9 })).toBe("1 to 9.");
    expect(noteOf({ minLength: 1 })).toBe("At least 1 characters.");
  });
});

describe("the table of profiles in the README", () => {
  const marks = "<!-- profiles: made by `npm run checks -- --write` from profiles/ -->";
  const files = new Map([
    ["README.md", `# svc\n\n${marks}\nold\n<!-- /profiles -->\nrest`],
    ["profiles/big.toml", 'summary = "Small | more"\nextends = "small"\nfeatures = ["b"]\nplanned = ["c", "d"]\n'],
    ["profiles/small.toml", 'summary = "Small"\nfeatures = [\n  "a",\n  "z",\n]\n'],
    ["profiles/planned.toml", "[c]\n"],
  ]);

  test("names what each adds and what is not written yet, after the profile that it extends", () => {
    const page = readmePage.render(files);
    expect(page.split("\n").filter((line) => line.startsWith("| `"))).toEqual([
      expect.stringMatching(/^\| `small` +\| Small +\| `a`, `z` +\| `pnpm build small` \|$/),
      expect.stringMatching(
        /^\| `big` +\| Small \\\| more +\| `small` and `b`; not written yet: `c`, `d` +\| `pnpm build big` +\|$/,
      ),
    ]);
    expect(page).not.toContain("old");
    expect(readmePage.render(new Map([...files, ["README.md", page]]))).toBe(page);
  });

  test("needs its marks: without them nothing is written over", () => {
    expect(() => readmePage.render(new Map([["README.md", "# svc"]]))).toThrow("README.md lacks the marks");
  });
});
