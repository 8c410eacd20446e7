// A checkpoint that is answered while no daemon runs: the gate behind it is asked for there and then, and the chat must hear of it
// with the next start, or the run waits for nobody.
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { eventually } from "./channel-fixture.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const TOML = `[sop]
execution_mode = "auto"

[[triggers]]
type = "manual"
`;
const MD = `## Steps

1. **Look first** — Somebody looks.
   - kind: checkpoint

2. **Go ahead** — Nobody may before.
   - requires_confirmation: true
`;

test("the gate behind a checkpoint is asked for in the chat, though nobody ran when it was opened", async () => {
  await using fixture = await startGovernedFixture();
  writeProcedure(fixture.home, "deploy", { toml: TOML, md: MD });
  await fixture.json("sop", "run", "deploy");
  const asked = (what: string): boolean =>
    fixture.platform.sent.some(({ text }) => text.includes("Approval needed") && text.includes(what));
  await eventually(() => asked("Look first"), Boolean);
  await fixture.daemon.stop();
  await fixture.svc("approvals", "approve", "1");
  fixture.daemon = await startBinary({ home: fixture.home });
  await eventually(() => asked("Go ahead"), Boolean);
  expect(fixture.platform.sent.filter(({ text }) => text.includes("Go ahead"))).toHaveLength(1);
});
