// A run that is killed in some state must end once all the same: no gate asked twice, nothing that acts done twice, and
// nothing that may or may not be done passed over in silence.
import { systemClock } from "@svc/kit/system-clock";
import { openStore } from "@svc/store";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { UNGUARDED } from "./daemon.ts";
import { EventReader } from "./governed-fixture.ts";
import { manual, obey, type ProceduresFixture, startProcedures, steps, wordsOf } from "./procedures-fixture.ts";

const MORE = `${UNGUARDED}\n[sop]\nmax_concurrent_total = 100\n`;

/** Does its work, and does not come back. */
/** Lasts as long as its workspace. */
const slow = (name: string): string => `echo ${name} >> acts.txt; while [ -e acts.txt ]; do sleep 0.1; done`;

const PROCEDURES = {
  think: { toml: manual('execution_mode = "auto"'), md: steps("Think about it.", "Say so.") },
  act: {
    toml: manual('execution_mode = "auto"'),
    md: steps(`Do this.\n\n   Call shell ${JSON.stringify({ command: slow("act") })}\n   - tools: shell`, "Say so."),
  },
  gated: { toml: manual('execution_mode = "supervised"'), md: steps("Look.", "Say so.") },
  each: { toml: manual('execution_mode = "step_by_step"'), md: steps("Look.", "Say so.", "Say more.") },
  plain: {
    toml: manual(
      'execution_mode = "deterministic"',
      `
[[steps]]
title = "First"
tool = "file_write"
args = { path = "acts.txt", content = "plain-first\\n", mode = "append" }

[[steps]]
title = "Slow"
tool = "shell"
args = { command = "${slow("plain-slow")}" }

[[steps]]
title = "Last"
tool = "file_write"
args = { path = "acts.txt", content = "plain-last\\n", mode = "append" }
`,
    ),
    md: "",
  },
};

const sorted = (fixture: ProceduresFixture): string[] => fixture.file("acts.txt").trim().split("\n").toSorted();

/** One that a killed process had only written down. */
async function leavePending(fixture: ProceduresFixture, like: string): Promise<string> {
  const store = openStore({
    file: join(fixture.home, "state", "svc.db"),
    clock: systemClock,
    idempotency: { ttlMs: 300_000, maxKeys: 100 },
  });
  try {
    const run = store.sopRuns.read(like)!;
    return (await store.write(() => store.sopRuns.add({ ...run, id: "r-pending", fence: "f".repeat(32) }))).id;
  } finally {
    store.close();
  }
}

test("killed in every state, each run ends once, each gate asks once, each call that acts is made at most once", async () => {
  let isAway = true;
  const script = (request: ModelRequest): ModelStep =>
    isAway && wordsOf(request).includes("Think about it.") ? { fault: "hang" } : obey(request);
  await using fixture = await startProcedures({ config: MORE, script });
  await fixture.write(PROCEDURES);
  const id: Record<string, string> = {};
  for (const name of Object.keys(PROCEDURES)) id[name] = await fixture.run(name);
  const called = await fixture.run("gated").catch(String);
  expect(called).toContain("SOP_BUSY");

  // In a model's turn, in a tool of a turn, at a gate, in a tool without a model: all at once.
  await eventually(
    () => fixture.file("acts.txt"),
    (text) => text.includes("plain-slow") && / act|^act/m.test(text),
  );
  await fixture.becomes(id["gated"]!, "waiting_approval");
  await fixture.becomes(id["each"]!, "waiting_approval");
  await fixture.delivered();
  await fixture.killed();
  id["pending"] = await leavePending(fixture, id["think"]!);
  // Between an answer and the step that it opens.
  expect((await fixture.chat.svc("approvals", "approve", id["gated"]!)).code).toBe(0);
  isAway = false;
  await fixture.begin();

  expect(await fixture.becomes(id["think"]!, "completed")).toMatchObject({ step: 2 });
  expect(await fixture.becomes(id["pending"]!, "completed")).toMatchObject({ step: 2 });
  expect(await fixture.becomes(id["gated"]!, "completed")).toMatchObject({ step: 2 });
  const acted = await fixture.becomes(id["act"]!, "completed");
  expect(acted.steps[0]!.output).toContain("interrupted, outcome unknown");
  const plain = await fixture.becomes(id["plain"]!, "waiting_approval");
  expect(plain).toMatchObject({ step: 2, steps: [{ status: "completed" }, { status: "waiting_approval" }, {}] });
  expect(plain.steps[1]!.approval).toMatchObject({ step_id: "step-2-interrupted", status: "waiting" });
  expect(plain.steps[1]!.approval!.message).toMatch(/ran shell\. Whether it did its work is not known/);

  // Right behind each answer, and at the very end of a run.
  await fixture.delivered();
  expect((await fixture.answer(id["plain"]!, "step-2-interrupted", true)).status).toBe(200);
  expect((await fixture.answer(id["each"]!, "step-1", true)).status).toBe(200);
  await fixture.killed();
  await fixture.begin();
  const last = await fixture.becomes(id["plain"]!, "completed", "waiting_approval");
  await fixture.delivered();
  // The kill may have hit the last call: then that one is asked about.
  if (last.status === "waiting_approval") await fixture.answer(id["plain"]!, "step-3-interrupted", true);
  expect(await fixture.becomes(id["plain"]!, "completed")).toMatchObject({ step: 3 });
  await eventually(
    () => fixture.show(id["each"]!),
    ({ step, status }) => step === 2 && status === "waiting_approval",
  );
  await fixture.delivered();
  await fixture.answer(id["each"]!, "step-2", true);
  await eventually(
    () => fixture.show(id["each"]!),
    ({ step, status }) => step === 3 && status === "waiting_approval",
  );
  await fixture.delivered();
  {
    await using events = await EventReader.open(fixture.chat.daemon.url, fixture.token);
    await fixture.answer(id["each"]!, "step-3", true);
    await eventually(
      () => events.ofType("sop-run-end"),
      ({ length }) => length > 0,
    );
    await fixture.killed();
  }
  await fixture.begin();
  expect(await fixture.becomes(id["each"]!, "completed")).toMatchObject({ step: 3, error: null });

  const wasCutOff = last.status === "waiting_approval";
  const acts = sorted(fixture).filter((act) => !wasCutOff || act !== "plain-last");
  expect(acts).toEqual(["act", "plain-first", ...(wasCutOff ? [] : ["plain-last"]), "plain-slow"]);
  expect(fixture.file("acts.txt").match(/plain-last/g)?.length ?? 0).toBeLessThanOrEqual(1);
  await judge(fixture, Object.values(id));
});

/** By what is written down: began and ended once each, asked for once each, answered once each. */
async function judge(fixture: ProceduresFixture, ids: readonly string[]): Promise<void> {
  const lines = await fixture.audit();
  const times = (kind: string, key: (line: (typeof lines)[number]) => string): Record<string, number> =>
    Object.fromEntries(
      [
        ...Map.groupBy(
          lines.filter((line) => line.kind === kind),
          key,
        ),
      ].map(([name, all]) => [name, all.length]),
    );
  const once = (keys: readonly string[]): Record<string, number> => Object.fromEntries(keys.map((key) => [key, 1]));
  expect(times("sop-run-end", ({ data }) => data.run_id)).toEqual(once(ids));
  const gates = (await fixture.approvals()).map((gate) => `${gate.run_id} ${gate.step_id}`);
  expect(times("approval-request", ({ data }) => `${data.run_id} ${data.step_id}`)).toEqual(once(gates));
  expect(times("approval-answer", ({ data }) => `${data.run_id} ${data.step_id}`)).toEqual(once(gates));
  await fixture.delivered();
  const asked = fixture.chat.platform.sent.flatMap(
    ({ replies }) => /:ap-(\d+)-[0-9a-f]+:yes/.exec(replies[0]?.id ?? "")?.[1] ?? [],
  );
  expect(asked.map(Number).toSorted()).toEqual((await fixture.approvals()).map(({ n }) => n).toSorted());
  expect(await fixture.chat.json("audit", "verify")).toMatchObject({ ok: true });
}
