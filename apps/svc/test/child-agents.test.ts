// Child agents of the whole binary: svc's own in a process of its own, a program of the Agent Client Protocol, what they may do, and that
// none outlives what it belongs to.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { type RunningBinary, startBinary } from "@svc/testkit/binary/start-binary";
import { fakeModelServer, type ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { requireReal } from "@svc/testkit/require-real";
import type { TemporaryHome } from "@svc/testkit/temporary-home";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { homeWith, localModel, post } from "./daemon.ts";

const binary = fullestBinaryPath();
const FAKE = fileURLToPath(new URL("../../../packages/features/agents/test/fake-acp-process.ts", import.meta.url));
const program = (mood: string): string =>
  `[agents_pool.programs.${mood}]\ncommand = [${JSON.stringify(process.execPath)}, ${JSON.stringify(FAKE)}, "${mood}", "--strict"]\n`;

/** An independent implementation: that of Python. */
const PYTHON = process.env["SVC_ACP_PYTHON"] ?? "/usr/bin/python3";
const ORACLE = fileURLToPath(new URL("acp-oracle.py", import.meta.url));

interface Agent {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly result: string | null;
  readonly pid: number | null;
  readonly parent: string | null;
  readonly processAlive: boolean;
  readonly usage: { readonly input_tokens: number; readonly cost_usd: number | null };
}

/** What the model says, by what it was asked last. */
let answer: (asked: string, request: ModelRequest) => ModelStep = (asked) => ({ text: `model: ${asked}` });
const model = await fakeModelServer({ script: (request) => answer(lastOf(request), request) });
let home: TemporaryHome;
let daemon: RunningBinary;
let token: string;

const DEEPEST = 5;

const CONFIG = `${localModel(model)}
[prices.local]
input_per_million = 1
output_per_million = 1

[security.sandbox]
backend = "none"

[agents_pool]
max_agents = 8
max_depth = ${DEEPEST}

${["answers", "asks", "dies", "silent", "floods"].map(program).join("\n")}
[agents_pool.programs.oracle]
command = [${JSON.stringify(PYTHON)}, ${JSON.stringify(ORACLE)}]
`;

beforeAll(async () => {
  home = homeWith(CONFIG);
  daemon = await startBinary({ home: home.path, binary });
  token = await daemon.pair();
});
afterAll(async () => {
  await daemon.close();
  await model.close();
  home.remove();
});

const ask = async (path: string, method = "GET", body?: object): Promise<Agent> => {
  const response = await daemon.request(path, { method, token, ...(body && { body }) });
  return (await response.json()) as Agent;
};
const make = (body: object): Promise<Agent> => ask("/api/agents", "POST", { prompt: "hello", wait_secs: 60, ...body });
const list = async (): Promise<readonly Agent[]> =>
  ((await ask("/api/agents")) as unknown as { readonly agents: readonly Agent[] }).agents;

/** The last text that the model was sent. */
function lastOf({ body }: ModelRequest): string {
  const messages = body["messages"] as readonly { readonly content: unknown }[];
  return JSON.stringify(messages.at(-1)?.content ?? "").replaceAll('"', "");
}

interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly text?: string; readonly status?: string };
}

/** Reads a child agent's stream until an event of this type, or its end. */
async function streamOf(id: string, until: string, lastEventId = "0"): Promise<readonly StreamedEvent[]> {
  const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream", "last-event-id": lastEventId };
  const closed = new AbortController();
  const response = await fetch(`${daemon.url}/api/agents/${id}/events`, { headers, signal: closed.signal });
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  let text = "";
  const found: StreamedEvent[] = [];
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + chunk).split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, id = "", type = "", data = ""] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (type !== "") found.push({ id, type, data: JSON.parse(data) as StreamedEvent["data"] });
    }
    if (found.some(({ type }) => type === until)) break;
  }
  closed.abort();
  return found;
}

const isAlive = (pid: number): boolean => {
  try {
    // One that has ended and was not collected is no process any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};
const gone = async (pid: number): Promise<void> => {
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
};

describe("svc's own agent", () => {
  test("answers in a process of its own, and is asked again", async () => {
    answer = (asked) => ({ text: `model: ${asked}` });
    const agent = await make({});
    expect(agent).toMatchObject({ status: "idle", result: expect.stringContaining("hello"), processAlive: true });
    expect(agent.pid).not.toBe(daemon.pid);
    expect(readFileSync(`/proc/${agent.pid}/cmdline`, "utf8")).toContain("__agent-loop");
    // Nothing of the daemon's environment, which holds secrets.
    expect(readFileSync(`/proc/${agent.pid}/environ`, "utf8")).not.toContain("SVC_HOME");
    const again = await ask(`/api/agents/${agent.id}/query`, "POST", { prompt: "more", wait_secs: 60 });
    expect(again).toMatchObject({ status: "idle", result: expect.stringContaining("more") });
    expect(again.usage.input_tokens).toBe(22);
    expect(again.usage.cost_usd).toBeGreaterThan(0);
    expect(await ask(`/api/agents/${agent.id}`, "DELETE")).toMatchObject({ status: "closed", processAlive: false });
    await gone(agent.pid!);
  });

  test("calls tools with its parent's policy, and is waited for by its parent's turn", async () => {
    answer = (asked, { body }) => {
      const text = JSON.stringify(body["messages"]);
      if (!text.includes("CHILD-TASK")) {
        return { calls: [{ name: "create_agent", input: { prompt: "CHILD-TASK" } }] };
      }
      const isChild = text.includes('"content":"CHILD-TASK"') || text.includes('"text":"CHILD-TASK"');
      if (isChild) {
        if (asked.includes("CHILD-TASK")) return { calls: [{ name: "file_list", input: {} }] };
        return { text: "the child is done" };
      }
      const [id] = /ag-[0-9a-f]{12}/.exec(text)!;
      if (asked.includes("the child is done")) return { text: "the parent knows" };
      return { calls: [{ name: "wait_for_agent", input: { id } }] };
    };
    const { body } = await post(daemon, token, "delegate it");
    expect(body.response).toBe("the parent knows");
    const made = (await list()).at(-1)!;
    // It ended with its parent's turn.
    while ((await ask(`/api/agents/${made.id}`)).status !== "closed") await Promise.resolve();
    await gone(made.pid ?? 0);
  });

  test("is ended before it acts more often than its budget allows", async () => {
    let asked = 0;
    answer = () => {
      asked += 1;
      return { calls: [{ name: "file_list", input: {} }] };
    };
    const agent = await make({ budget: { actions: 2 } });
    const budget = { cost_usd: null, tokens: null, actions: 2 };
    expect(agent).toMatchObject({ status: "error", code: "CHILD_AGENT_BUDGET", result: null, budget });
    expect(agent).toMatchObject({
      usage: { actions: 2 },
      spent: { actions: 2 },
      reason: "it may call tools at most 2 times",
    });
    // The third answer of the model asked for the call that was refused.
    expect(asked).toBe(3);
    answer = () => ({ text: "twenty tokens" });
    expect(await make({ budget: { tokens: 5 } })).toMatchObject({ status: "error", code: "CHILD_AGENT_BUDGET" });
    const shown = await runBinary(["agents", "show", agent.id], { home: home.path, binary });
    expect(shown.stdout).toContain("CHILD_AGENT_BUDGET");
  });

  test("makes others as deep as max_depth and no deeper, and all of them end with the first, which is killed", async () => {
    const { promise: isRefused, resolve: refused } = Promise.withResolvers<void>();
    answer = (asked) => {
      if (asked.includes("CHILD_AGENT_LIMIT")) {
        refused();
        return { fault: "hang" };
      }
      const [id] = /ag-[0-9a-f]{12}/.exec(asked) ?? [];
      return {
        calls: [id ? { name: "wait_for_agent", input: { id } } : { name: "create_agent", input: { prompt: "deeper" } }],
      };
    };
    const known = new Set((await list()).map(({ id }) => id));
    const top = await make({ prompt: "nest", wait_secs: 0 });
    await isRefused;
    const chain = (await list()).filter(({ id }) => !known.has(id));
    expect(chain.map(({ parent }) => parent)).toEqual([null, ...chain.slice(0, -1).map(({ id }) => id)]);
    expect(chain.map(({ status }) => status)).toEqual(chain.map(() => "running"));
    expect(chain).toHaveLength(DEEPEST);
    process.kill(chain[0]!.pid!, "SIGKILL");
    await Promise.all(chain.map(({ pid }) => gone(pid!)));
    for (const { id } of chain) {
      const status = id === top.id ? "error" : "closed";
      while ((await ask(`/api/agents/${id}`)).status !== status) await Promise.resolve();
    }
  });

  test("its model's refusal is its failure", async () => {
    answer = () => ({ status: 401 });
    expect(await make({})).toMatchObject({ status: "error", reason: expect.stringContaining("MODEL_REFUSED") });
  });
});

describe("a program of the Agent Client Protocol", () => {
  test("answers, and its events and cost are shown", async () => {
    const agent = await make({ program: "answers" });
    expect(agent).toMatchObject({ status: "idle", result: "you said: hello", usage: { cost_usd: 0.25 } });
    const events = (await ask(`/api/agents/${agent.id}/events?since=1`)) as unknown as {
      readonly events: readonly { readonly kind: string }[];
    };
    expect(events.events.map(({ kind }) => kind)).toContain("tool");
    expect(await ask(`/api/agents/${agent.id}`, "DELETE")).toMatchObject({ status: "closed" });
  });

  test("its events are streamed as they come, from where the reader stands, to its end", async () => {
    const agent = await make({ program: "answers" });
    const read = await streamOf(agent.id, "text");
    const first = read.slice(0, read.findIndex(({ type }) => type === "text") + 1);
    expect(first.map(({ type }) => type)).toEqual(["status", "prompt", "thought", "tool", "tool", "text"]);
    const rest = streamOf(agent.id, "over", first.at(-1)!.id);
    await ask(`/api/agents/${agent.id}`, "DELETE");
    const seen = await rest;
    expect(seen.map(({ type }) => type)).toEqual(["status", "status", "over"]);
    expect(seen.at(-1)!.data.status).toBe("closed");
    const unknown = { token, headers: { accept: "text/event-stream" } };
    expect((await daemon.request("/api/agents/ag-000000000000/events", unknown)).status).toBe(404);
  });

  test("what it asks for is an approval", async () => {
    const agent = await make({ program: "asks", wait_secs: 0 });
    let approvals: readonly { readonly run_id: string; readonly step_id: string; readonly message: string }[] = [];
    while (approvals.length === 0) {
      const response = await daemon.request("/api/approvals?status=waiting", { token });
      ({ approvals } = (await response.json()) as { approvals: typeof approvals });
    }
    expect(approvals[0]).toMatchObject({ run_id: agent.id, step_id: "t1" });
    expect(approvals[0]!.message).toContain("rm -rf build");
    await runBinary(["approvals", "approve", agent.id, "t1"], { home: home.path, binary });
    let now = agent;
    while (now.status !== "idle" && now.status !== "error") now = await ask(`/api/agents/${agent.id}`);
    expect(now.result).toContain('"optionId":"yes"');
    await ask(`/api/agents/${agent.id}`, "DELETE");
  });

  test("one that dies is an error, with no process left", async () => {
    expect(await make({ program: "dies" })).toMatchObject({
      status: "error",
      reason: expect.stringContaining("its process ended"),
      pid: null,
    });
  });

  test("one that ignores SIGTERM and its closed input is killed", async () => {
    const agent = await make({ program: "silent", wait_secs: 0 });
    let now = agent;
    while (now.status !== "running") now = await ask(`/api/agents/${agent.id}`);
    expect(await ask(`/api/agents/${agent.id}`, "DELETE")).toMatchObject({ status: "closed" });
    expect(isAlive(now.pid!)).toBe(false);
  });

  test("a flood is ended, and svc goes on", async () => {
    expect(await make({ program: "floods" })).toMatchObject({ status: "error", result: null });
    expect((await daemon.request("/health")).status).toBe(200);
  });
});

describe("an agent on another implementation of the protocol", () => {
  beforeEach((context) => {
    if (spawnSync(PYTHON, [ORACLE, "--check"]).status === 0) return;
    const reason = `${PYTHON} has no module acp; pip install agent-client-protocol, and name its Python in SVC_ACP_PYTHON`;
    requireReal(context, { name: "agent-client-protocol for Python", reason, tier: "B" });
  });

  test("answers, asks a person, is interrupted, and answers again", async () => {
    const agent = await make({ program: "oracle", prompt: "ask", wait_secs: 0 });
    let found: readonly { readonly run_id: string }[] = [];
    while (!found.some((one) => one.run_id === agent.id)) {
      const response = await daemon.request("/api/approvals?status=waiting", { token });
      ({ approvals: found } = (await response.json()) as { approvals: typeof found });
    }
    await runBinary(["approvals", "reject", agent.id, "call-1"], { home: home.path, binary });
    let now = agent;
    while (now.status !== "idle") now = await ask(`/api/agents/${agent.id}`);
    expect(now.result).toBe("oracle: no");
    await ask(`/api/agents/${agent.id}/query`, "POST", { prompt: "wait" });
    await ask(`/api/agents/${agent.id}/interrupt`, "POST");
    while (now.reason !== "it was interrupted") now = await ask(`/api/agents/${agent.id}`);
    now = await ask(`/api/agents/${agent.id}/query`, "POST", { prompt: "again", wait_secs: 60 });
    expect(now).toMatchObject({ status: "idle", result: "oracle: again" });
    expect(await ask(`/api/agents/${agent.id}`, "DELETE")).toMatchObject({ status: "closed" });
  });
});

/** Of one step, which a child agent does. */
function procedure(name: string): void {
  const folder = join(home.path, "workspace", "sops", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "SOP.toml"),
    `[sop]\ndescription = "x"\nexecution_mode = "auto"\n[[triggers]]\ntype = "manual"\n`,
  );
  writeFileSync(
    join(folder, "SOP.md"),
    "## Steps\n\n1. **Look** — STEP-TASK\n   - tools: file_list\n   - agent: svc\n",
  );
}

describe("a step of a procedure", () => {
  const run = async (name: string) => {
    procedure(name);
    await daemon.request("/api/sops", { token });
    await runBinary(["reload"], { home: home.path, binary });
    const { stdout } = await runBinary(["sop", "run", name, "--wait", "--json"], { home: home.path, binary });
    return stdout;
  };

  test("is done by a child agent, with the step's tools", async () => {
    let tools: unknown;
    answer = (asked, { body }) => {
      tools = (body["tools"] as { readonly function: { readonly name: string } }[]).map((one) => one.function.name);
      return { text: `seen: ${asked.includes("STEP-TASK")}` };
    };
    expect(await run("looks")).toContain("completed");
    expect(tools).toEqual(["file_list"]);
    const child = (await list()).find(({ result }) => result === "seen: true")!;
    while ((await ask(`/api/agents/${child.id}`)).status !== "closed") await Promise.resolve();
    expect(child.parent).toBeNull();
  });

  test("fails with its child agent", async () => {
    answer = () => ({ status: 401 });
    const told = await run("fails");
    expect(told).toContain("failed");
    expect(told).toContain("CHILD_AGENT_FAILED");
  });
});

test("a step that was cut off by kill -9 has failed, its child agent is gone, and nothing is done twice", async () => {
  let steps = 0;
  const { promise: isThinking, resolve: thinks } = Promise.withResolvers<void>();
  answer = (_asked, { body }) => {
    steps += 1;
    if (steps === 2) thinks();
    // It acts once, then thinks for longer than svc lives.
    if (!JSON.stringify(body["messages"]).includes('"role":"tool"'))
      return { calls: [{ name: "file_list", input: {} }] };
    return { fault: "hang" };
  };
  procedure("cut-off");
  await runBinary(["reload"], { home: home.path, binary });
  const run = await runBinary(["sop", "run", "cut-off", "--json"], { home: home.path, binary });
  const { id: runId } = JSON.parse(run.stdout) as { readonly id: string };
  await isThinking;
  const child = (await list()).find(({ status }) => status === "running")!;
  await daemon.kill9();
  await gone(child.pid!);
  daemon = await startBinary({ home: home.path, binary });
  expect(await ask(`/api/agents/${child.id}`)).toMatchObject({ status: "error", reason: "svc ended while it ran" });
  let shown = "";
  while (!shown.includes('"failed"')) {
    ({ stdout: shown } = await runBinary(["sop", "show", runId, "--json"], { home: home.path, binary }));
  }
  expect(shown).toContain("svc ended while the child agent of this step worked");
  // The run waits for a person: no second child agent, and no second call of the tool.
  expect((await list()).filter(({ status }) => status === "running" || status === "initializing")).toEqual([]);
  expect(steps).toBe(2);
});

test("svc agents starts, lists and ends them", async () => {
  answer = (asked) => ({ text: `model: ${asked}` });
  const svc = async (...args: readonly string[]) => runBinary(["agents", ...args], { home: home.path, binary });
  const started = await svc("start", "--wait", "--title", "from a terminal", "hello there");
  expect(started.stdout).toContain("model: hello there");
  const [id] = /ag-[0-9a-f]{12}/.exec(started.stdout)!;
  expect((await svc("list")).stdout).toContain(`${id}  idle  svc  from a terminal`);
  const shown = JSON.parse((await svc("show", id, "--json")).stdout) as Agent;
  expect(shown).toMatchObject({ id, status: "idle" });
  expect((await svc("events", id)).stdout).toContain("prompt");
  const watched = svc("watch", id);
  expect((await svc("stop", id)).stdout).toContain("closed");
  const { stdout, code } = await watched;
  expect([stdout.includes("hello there"), stdout.includes("closed: a person ended it"), code]).toEqual([true, true, 0]);
  const unknown = await svc("show", "ag-000000000000");
  expect(`${unknown.stdout}${unknown.stderr}`).toContain("CHILD_AGENT_UNKNOWN");
});

interface Events {
  readonly events: readonly { readonly seq: number }[];
  readonly last: number;
}

test("kill -9 of svc leaves no child, and the next start tells none as running", async () => {
  answer = (asked) => ({ text: `model: ${asked}` });
  const own = await make({});
  const silent = await make({ program: "silent", wait_secs: 0 });
  let running = silent;
  while (running.status !== "running") running = await ask(`/api/agents/${silent.id}`);
  const before = (await ask(`/api/agents/${own.id}/events`)) as unknown as Events;
  await daemon.kill9();
  await Promise.all([gone(own.pid!), gone(running.pid!)]);
  daemon = await startBinary({ home: home.path, binary });
  expect(await ask(`/api/agents/${own.id}`)).toMatchObject({ status: "closed", result: own.result, pid: null });
  expect(await ask(`/api/agents/${silent.id}`)).toMatchObject({ status: "error", reason: "svc ended while it ran" });
  expect((await list()).filter(({ status }) => status === "running" || status === "initializing")).toEqual([]);
  // The path of the specification.
  const after = (await ask(`/agents/${own.id}/events`)) as unknown as Events;
  expect(after.events.slice(0, before.events.length)).toEqual(before.events);
  expect(before.events.length).toBeGreaterThan(1);
  const reader = (await ask(`/agents/${own.id}/events?since=${before.last}`)) as unknown as Events;
  expect(reader.events.every(({ seq }) => seq > before.last)).toBe(true);
});
