// What a running turn acts with is changed under it: its policy, its workspace, its tools, the sandbox. What it began ends as it
// began; the very next call is another one's already, and the model keeps nothing of what is gone.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { fakeModelServer, type FakeModelServer } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { expect, test } from "vitest";
import { homeWith, localModel, post, startPaired, UNGUARDED } from "./daemon.ts";

const WAITING = "touch began; while [ ! -e go ]; do sleep 0.02; done; touch ended";

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

interface Report {
  readonly changed: readonly string[];
  readonly features: readonly string[];
}

interface Change {
  readonly before: string;
  readonly after: string;
  /** What the model asks for when the command has ended. */
  readonly goesOn: ModelStep;
}

/** Runs a turn whose command is under way while the config changes; resolves with what the model was told at last. */
async function changedUnder({ before, after, goesOn }: Change) {
  const stack = new AsyncDisposableStack();
  const model: FakeModelServer = stack.use(
    await fakeModelServer({
      script: [
        { calls: [{ name: "shell", input: { command: WAITING } }] },
        goesOn,
        { text: "done" },
        { text: "again" },
      ],
    }),
  );
  const home = stack.use(homeWith(`${localModel(model)}\n${before}`));
  const { daemon, token } = await startPaired({ home: home.path });
  stack.use(daemon);
  const turn = post(daemon, token, "work");
  await until(() => existsSync(join(home.path, "workspace/began")));
  writeFileSync(join(home.path, "config.toml"), `${localModel(model)}\n${after}`, { mode: 0o600 });
  const { stdout } = await runBinary(["reload", "--json"], { home: home.path });
  writeFileSync(join(home.path, "workspace/go"), "");
  expect((await turn).body.response).toBe("done");
  expect(existsSync(join(home.path, "workspace/ended"))).toBe(true);
  const told = JSON.stringify(model.requests[2]?.body["messages"]);
  expect((await post(daemon, token, "and again")).body.response).toBe("again");
  const offered = [1, 3].map((index) =>
    ((model.requests[index]?.body["tools"] ?? []) as { function: { name: string } }[]).map(
      (tool) => tool.function.name,
    ),
  );
  return {
    report: JSON.parse(stdout) as Report,
    told,
    offered,
    home: home.path,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const write = (path: string): ModelStep => ({ calls: [{ name: "file_write", input: { path, content: "late" } }] });

test("another workspace: the command ends in the old one, the next call works in the new", async () => {
  await using found = await changedUnder({
    before: UNGUARDED,
    after: `${UNGUARDED}[workspace]\npath = "elsewhere"\n`,
    goesOn: write("late.txt"),
  });
  expect(found.report).toMatchObject({ changed: ["workspace"], features: [] });
  expect(readFileSync(join(found.home, "elsewhere/late.txt"), "utf8")).toBe("late");
  expect(existsSync(join(found.home, "workspace/late.txt"))).toBe(false);
});

test("another sandbox: the command ends as it began, the next is refused where none is that is required", async () => {
  await using found = await changedUnder({
    before: UNGUARDED,
    after: UNGUARDED.replace('backend = "none"', 'backend = "none"\nrequired = true'),
    goesOn: { calls: [{ name: "shell", input: { command: "touch late" } }] },
  });
  expect(found.report).toMatchObject({ changed: ["security.sandbox"], features: [] });
  expect(found.told).toContain("SANDBOX_UNAVAILABLE");
  expect(existsSync(join(found.home, "workspace/late"))).toBe(false);
});

test("a tool that is switched off: the turn's next call of it is refused, and the next turn is not offered it", async () => {
  await using found = await changedUnder({
    before: UNGUARDED,
    after: `${UNGUARDED}[tools]\ndisabled = ["file_write"]\n`,
    goesOn: write("late.txt"),
  });
  expect(found.report).toMatchObject({ changed: ["tools"], features: [] });
  expect(found.told).toContain("TOOL_REFUSED");
  const [during, next] = found.offered as [string[], string[]];
  expect(during).toContain("file_write");
  expect(next).toEqual(during.filter((name) => name !== "file_write"));
});

test("the policy of one agent is that agent's: what another may, and what it has used up of its hour, stays", async () => {
  const policies = (ops: string): string => `
[security.sandbox]
backend = "none"
[security.policy]
autonomy = "full"
max_actions_per_hour = 2
[agents.ops.policy]
autonomy = "${ops}"
[agents.night]
`;
  using home = homeWith(policies("full"));
  const { daemon } = await startPaired({ home: home.path });
  await using _ = daemon;
  const act = async (agent: string): Promise<string> => {
    const input = JSON.stringify({ path: `${agent}.txt`, content: agent });
    const { stdout } = await runBinary(["tools", "run", "file_write", "--agent", agent, "--input", input], {
      home: home.path,
    });
    const [refused] = /read_only|max_actions_per_hour/.exec(stdout) ?? [];
    return refused ?? "ran";
  };
  expect([await act("ops"), await act("night")]).toEqual(["ran", "ran"]);
  writeFileSync(join(home.path, "config.toml"), policies("read_only"), { mode: 0o600 });
  const { stdout } = await runBinary(["reload", "--json"], { home: home.path });
  expect(JSON.parse(stdout)).toMatchObject({ changed: ["agents"], features: [] });
  expect([await act("ops"), await act("night"), await act("night")]).toEqual([
    "read_only",
    "ran",
    "max_actions_per_hour",
  ]);
});
