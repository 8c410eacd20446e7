// Which calls run, ask or are refused, and by which rule (behaviour page, section 6).
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import * as v from "valibot";
import { afterAll, describe, expect, test } from "vitest";
import { type Approval, type ClientId, defineTool, type Tool } from "@svc/contract";
import { ActionHistories } from "../src/policy/action-history.ts";
import { createPolicy, type PolicyOptions } from "../src/policy/index.ts";

const workspace = realpathSync(mkdtempSync(join(tmpdir(), "svc-policy-")));
afterAll(() => rmSync(workspace, { recursive: true }));

const tool = (name: string, approval: Tool["approval"], more: Partial<Tool> = {}): Tool =>
  defineTool({ name, description: "", input: v.any(), approval, run: async () => null, ...more });

const client = "client" as ClientId;
const reader = tool("file_read", "auto");
const writer = tool("file_write", "ask");
const fetcher = tool("http_get", (input) => ((input as { body?: string }).body === undefined ? "auto" : "ask"));
const shell = tool("shell", "ask", {
  commandLine: (input) => (input as { command: string }).command,
  commandFolder: (input) => (input as { cwd?: string }).cwd,
});

interface Setting {
  policy?: Partial<PolicyOptions["policy"]>;
  disabled?: string[];
  sandbox?: Partial<PolicyOptions["sandbox"]>;
  now?: () => number;
}

function policyOf({ policy, disabled = [], sandbox, now = () => 0 }: Setting = {}) {
  return createPolicy({
    agent: "default",
    policy: {
      autonomy: "supervised",
      allowed_commands: [],
      workspace_only: true,
      forbidden_paths: [],
      max_actions_per_hour: 0,
      per_client: true,
      always: [],
      ...policy,
    },
    disabledTools: disabled,
    sandbox: { effective: "fsrestrict", chosenNone: false, ...sandbox },
    workspace,
    actions: new ActionHistories({ actionsSince: () => [] }, { now: () => 0, monotonic: now }).of("default"),
  });
}

const judged = (setting: Setting, which: Tool, input: unknown = {}) => policyOf(setting).judge(which, input, client);
const verdict = (setting: Setting, which: Tool, input: unknown = {}) => judged(setting, which, input).verdict;
const line = (command: string, allowed: string[], setting: Setting = {}, cwd?: string) =>
  verdict({ ...setting, policy: { allowed_commands: allowed, ...setting.policy } }, shell, { command, cwd });

describe("autonomy", () => {
  test.each([
    ["read_only", reader, {}, "allow"],
    ["read_only", writer, {}, "refuse"],
    ["read_only", fetcher, {}, "allow"],
    ["read_only", fetcher, { body: "x" }, "refuse"],
    ["read_only", shell, { command: "true" }, "refuse"],
    ["supervised", reader, {}, "allow"],
    ["supervised", writer, {}, "ask"],
    ["supervised", fetcher, { body: "x" }, "ask"],
    ["supervised", shell, { command: "true" }, "ask"],
    ["full", writer, {}, "allow"],
    ["full", fetcher, { body: "x" }, "allow"],
    ["full", shell, { command: "true" }, "ask"],
  ] as const)("%s: %o with %o: %s", (autonomy, which, input, expected) => {
    expect(verdict({ policy: { autonomy } }, which, input)).toBe(expected);
  });

  test.each(["supervised", "full"] as const)("%s: a listed command runs, an unlisted one asks", (autonomy) => {
    expect(line("true", ["true"], { policy: { autonomy, allowed_commands: ["true"] } })).toBe("allow");
    expect(line("false", ["true"], { policy: { autonomy, allowed_commands: ["true"] } })).toBe("ask");
  });

  test("only a line that runs because it is listed is marked, so that it finds no settings of the user", () => {
    const marked = (allowed: string[], which: Tool) =>
      judged({ policy: { autonomy: "full", allowed_commands: allowed } }, which, { command: "true" });
    expect(marked(["true"], shell)).toEqual({ verdict: "allow", isListedLine: true });
    expect(marked(["true", "*"], shell)).toEqual({ verdict: "allow" });
    expect(marked(["true"], writer)).toEqual({ verdict: "allow" });
  });

  test("read_only refuses listed commands too", () => {
    expect(line("true", [], { policy: { autonomy: "read_only", allowed_commands: ["*"] } })).toBe("refuse");
  });

  test("a tool that runs a command line acts, even if it says auto; one that fails to answer acts too", () => {
    const liar = tool("liar", "auto", { commandLine: () => "true" });
    const broken = tool("broken", (): Approval => {
      throw new Error("broken");
    });
    const mute = tool("mute", "ask", {
      commandLine: () => {
        throw new Error("broken");
      },
    });
    expect([verdict({}, liar), verdict({}, broken)]).toEqual(["ask", "ask"]);
    expect(verdict({ policy: { allowed_commands: ["true"] } }, mute)).toBe("ask");
  });
});

test("a disabled tool is refused, whatever it does", () => {
  const policy = policyOf({ policy: { autonomy: "full" }, disabled: ["file_read", "file_write"] });
  for (const which of [reader, writer]) {
    expect(policy.judge(which, {}, client)).toMatchObject({ verdict: "refuse", rule: "tools.disabled" });
  }
});

describe("without a sandbox", () => {
  const none = { effective: "none", chosenNone: false };
  test("shell asks, even at full and with *", () => {
    expect(line("true", ["*"], { policy: { autonomy: "full", allowed_commands: ["*"] }, sandbox: none })).toBe("ask");
  });
  test("unless the config chose none", () => {
    const chosen = { effective: "none", chosenNone: true };
    expect(line("true", ["true"], { sandbox: chosen })).toBe("allow");
    expect(line("anything $(at all)", ["*"], { sandbox: chosen })).toBe("allow");
  });
  test("other tools are not concerned", () => {
    expect(verdict({ policy: { autonomy: "full" }, sandbox: none }, writer)).toBe("allow");
  });
});

describe("max_actions_per_hour", () => {
  test("slides, counts only calls that run, and says when the next is possible", () => {
    let nowMs = 0;
    const policy = policyOf({ policy: { autonomy: "full", max_actions_per_hour: 2 }, now: () => nowMs });
    const act = () => policy.judge(writer, {}, client);
    expect(policy.judge(reader, {}, client).verdict).toBe("allow");
    expect(act().verdict).toBe("allow");
    nowMs = 1_800_000;
    expect(act().verdict).toBe("allow");
    expect(act()).toMatchObject({
      rule: "security.policy.max_actions_per_hour",
      reason: expect.stringContaining("30 min"),
    });
    expect(policy.judge(reader, {}, client).verdict).toBe("allow");
    nowMs = 3_599_999;
    expect(act().verdict).toBe("refuse");
    nowMs = 3_600_000;
    expect(act().verdict).toBe("allow");
    expect(act().verdict).toBe("refuse");
  });

  test("an asked call counts when it is confirmed, and a late yes can't pass the limit", () => {
    const policy = policyOf({ policy: { max_actions_per_hour: 1 } });
    expect(policy.judge(writer, {}, client).verdict).toBe("ask");
    expect(policy.judge(writer, {}, client).verdict).toBe("ask");
    policy.recordAction(writer, client);
    expect(() => policy.recordAction(writer, client)).toThrow(expect.objectContaining({ code: "TOOL_REFUSED" }));
    expect(policy.judge(writer, {}, client).verdict).toBe("refuse");
  });
});

test("no verdict quotes what was asked for", () => {
  fc.assert(
    fc.property(fc.string({ minLength: 4 }), (text) => {
      const marked = `zq${text}qz`;
      expect(
        JSON.stringify(judged({ policy: { allowed_commands: ["ls"] } }, shell, { command: marked })),
      ).not.toContain(marked);
    }),
  );
});

test("* lifts every question about a line", () => {
  expect(line("sh -c 'anything $(x)' > /etc/x", ["ls", "*"])).toBe("allow");
});
