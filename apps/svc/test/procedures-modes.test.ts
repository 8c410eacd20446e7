// What a mode promises must hold in the whole: where somebody is asked, what goes on without, and what a no and a cancel leave
// behind.
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { UNGUARDED } from "./daemon.ts";
import {
  manual,
  obey,
  type ProceduresFixture,
  type RunDetail,
  startProcedures,
  steps,
  wordsOf,
} from "./procedures-fixture.ts";

let fixture: ProceduresFixture;
/** Steps that say so are not answered. */
let isAway = true;

const script = (request: ModelRequest): ModelStep =>
  isAway && wordsOf(request).includes("Take long.") ? { fault: "hang" } : obey(request);

const MORE = `${UNGUARDED}
[sop]
default_execution_mode = "step_by_step"
max_concurrent_total = 20
`;

beforeAll(async () => void (fixture = await startProcedures({ config: MORE, script })));
afterAll(() => fixture[Symbol.asyncDispose]());

const TWO = steps("Look.", "Say so.");
const ofMode = (mode: string, more = ""): string => manual(`execution_mode = "${mode}"\nmax_concurrent = 100\n${more}`);

/** Says yes to whatever the run asks, until it ends; where it asked. */
async function gatesOf(id: string): Promise<{ readonly gates: readonly string[]; readonly run: RunDetail }> {
  const gates: string[] = [];
  for (;;) {
    const run = await eventually(
      () => fixture.show(id),
      ({ status, step }) =>
        status === "completed" || (status === "waiting_approval" && !gates.includes(`step-${step}`)),
    );
    if (run.status === "completed" || gates.length === 10) return { gates, run };
    const { status } = await fixture.answer(id, `step-${run.step}`, true);
    gates.push(`${status === 200 ? "" : `${status} `}step-${run.step}`);
  }
}

test("every mode asks where it says, and what demands a person is asked in each of them", async () => {
  const confirmed = `${TWO}   - requires_confirmation: true\n`;
  const checkpoint = steps("Look.", "Is it good?\n\n   - kind: checkpoint", "Say so.");
  await fixture.write({
    auto: { toml: ofMode("auto"), md: TWO },
    supervised: { toml: ofMode("supervised"), md: TWO },
    each: { toml: ofMode("step_by_step"), md: TWO },
    unsaid: { toml: manual(""), md: TWO },
    urgent: { toml: ofMode("priority_based", 'priority = "high"'), md: TWO },
    normal: { toml: ofMode("priority_based"), md: TWO },
    careful: { toml: ofMode("auto"), md: confirmed },
    checked: { toml: ofMode("auto"), md: checkpoint },
  });
  const names = ["auto", "supervised", "each", "unsaid", "urgent", "normal", "careful", "checked"];
  const ended = await Promise.all(names.map(async (name) => [name, (await gatesOf(await fixture.run(name))).gates]));
  expect(Object.fromEntries(ended)).toEqual({
    auto: [],
    supervised: ["step-1"],
    each: ["step-1", "step-2"],
    unsaid: ["step-1", "step-2"],
    urgent: [],
    normal: ["step-1"],
    careful: ["step-2"],
    checked: ["step-2"],
  });
  // A checkpoint lets through what came before it.
  expect(wordsOf(fixture.model.requests.findLast((request) => wordsOf(request).includes("Step 3 of 3"))!)).toContain(
    "What the step before gave.",
  );
});

test("without a model each step is given what the one before came to; values go in whole, or not at all", async () => {
  const step = (title: string, call: string): string => `\n[[steps]]\ntitle = "${title}"\n${call}\n`;
  const write = step(
    "Write",
    'tool = "file_write"\nargs = { path = "$.path", content = "$.text" }\ntrusted_input = true',
  );
  const read = step("Read", 'tool = "file_read"\nargs = { path = "told.txt" }');
  const note = step(
    "Note",
    'tool = "file_write"\nargs = { path = "again.txt", content = "$.text" }\nrequires_confirmation = true',
  );
  const unsafe = step("Unsafe", 'tool = "file_write"\nargs = { path = "unsafe.txt", content = "$.text" }');
  const command = step("Command", 'tool = "shell"\nargs = { command = "$.text" }\ntrusted_input = true');
  await fixture.write({
    plain: { toml: ofMode("deterministic") + write + read + note, md: "" },
    unsafe: { toml: ofMode("deterministic") + unsafe, md: "" },
    command: { toml: ofMode("deterministic") + command, md: "" },
  });
  const asked = fixture.model.requests.length;
  const text = 'as it came: "; rm -rf / #\n$.path $(reboot)';
  const { gates, run } = await gatesOf(await fixture.run("plain", { path: "told.txt", text }));
  expect(gates).toEqual(["step-3"]);
  expect([fixture.file("told.txt"), fixture.file("again.txt")]).toEqual([text, text]);
  expect(run.steps[1]!.output).toMatchObject({ text });
  expect(await fixture.run("unsafe", { text }).catch(String)).toMatch(/trusted_input|requires_confirmation|outside/);
  expect(await fixture.run("command", { text }).catch(String)).toMatch(/SOP_INVALID|outside/);
  const missing = await fixture.becomes(await fixture.run("plain", { path: "x.txt" }), "failed");
  expect(missing).toMatchObject({ error: "SOP_STEP_FAILED", step: 1 });
  expect(fixture.model.requests).toHaveLength(asked);
});

test("a no cancels with its feedback; whoever cancels ends what waits and what runs, and its question", async () => {
  await fixture.write({
    asks: { toml: ofMode("supervised"), md: TWO },
    long: { toml: ofMode("auto"), md: steps("Take long.", "Say so.") },
  });
  const rejected = await fixture.run("asks");
  await fixture.becomes(rejected, "waiting_approval");
  await fixture.answer(rejected, "step-1", false, "not on a Friday");
  expect(await fixture.becomes(rejected, "cancelled")).toMatchObject({
    reason: expect.stringMatching(/^Rejected by .*: not on a Friday$/),
    steps: [{ status: "cancelled" }, { status: "pending" }],
  });

  const waiting = await fixture.run("asks");
  await fixture.becomes(waiting, "waiting_approval");
  expect((await fixture.api(`/api/sop-runs/${waiting}/cancel`, {})).status).toBe(200);
  expect(await fixture.becomes(waiting, "cancelled")).toMatchObject({
    steps: [{ approval: { status: "cancelled" } }, {}],
  });
  expect(await fixture.answer(waiting, "step-1", true)).toMatchObject({ status: 409 });
  expect((await fixture.show(waiting)).status).toBe("cancelled");

  const running = await fixture.run("long");
  await eventually(
    () => fixture.model.requests.some((request) => wordsOf(request).includes("Take long.")),
    (isAsked) => isAsked,
  );
  expect((await fixture.chat.svc("sop", "cancel", running, "--yes")).code).toBe(0);
  expect(await fixture.becomes(running, "cancelled")).toMatchObject({
    step: 1,
    reason: expect.stringMatching(/^Cancelled by/),
  });
  await eventually(
    () => fixture.model.abandoned,
    (count) => count > 0,
  );
  expect((await fixture.api(`/api/sop-runs/${running}/cancel`, {})).body.code).toBe("SOP_RUN_ENDED");
  expect((await fixture.chat.svc("sop", "cancel", "r-nobody", "--yes")).stderr).toContain("SOP_RUN_UNKNOWN");
});
