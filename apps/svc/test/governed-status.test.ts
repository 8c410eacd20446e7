// svc status and svc doctor about approvals and procedures: what waits, what is broken, and an approver whom the channel's own
// allowlist keeps out, who would wonder why nothing happens when he answers.
import { EXIT } from "@svc/contract";
import { runBinary } from "@svc/testkit/binary/run-binary";
import { expect, test } from "vitest";
import { eventually, PERSON } from "./channel-fixture.ts";
import { homeWith } from "./daemon.ts";
import { doctor, levels, of } from "./doctor-report.ts";
import { startGovernedFixture, writeProcedure } from "./governed-fixture.ts";

const DEPLOY = {
  toml: `[sop]
description = "Deploys what was built."

[[triggers]]
type = "manual"
`,
};
const BROKEN = { toml: "[sop]\npriority = 3\n" };

test("svc status tells what waits for a person and which procedures are broken, and how to see them", async () => {
  await using fixture = await startGovernedFixture();
  expect((await fixture.svc("status")).stdout).not.toMatch(/approvals|sop/);
  writeProcedure(fixture.home, "deploy", DEPLOY);
  writeProcedure(fixture.home, "broken", BROKEN);
  await fixture.svc("sop", "run", "deploy");
  const waits = async (): Promise<string> => (await fixture.svc("status")).stdout;
  const told = await eventually(waits, (text) => text.includes("approvals"));
  expect(told).toContain("1 to answer: svc approvals list");
  expect(told).toContain("1 in force, 0 running, 1 waiting for a person; 1 broken: svc sop validate");
  expect(await fixture.json("status")).toMatchObject({
    approvals: { waiting: 1 },
    sops: { loaded: 1, broken: 1, running: 0, waiting: 1 },
  });
});

const channel = (approvers: readonly string[]): string => `
[channels_config.provider_a]
access_token = "EAAB-access-token-of-the-test"
phone_number_id = "109876543210"
verify_token = "verify-token-of-the-test"
app_secret = "app-secret-of-the-test"
allowed_numbers = ["${PERSON}"]
approvers = ${JSON.stringify(approvers)}
`;

test.for([
  [["+1 (555) 123-4567"], ["ok"]],
  [[PERSON, "+15557654321"], ["warning"]],
  [[], []],
] as const)("svc doctor: of the approvers %j", async ([approvers, expected]) => {
  using home = homeWith(channel(approvers));
  const report = await doctor(home.path);
  expect(levels(report, "approvers")).toEqual(expected);
  for (const { message, fix } of of(report, "approvers")) {
    expect(message).not.toContain("5557654321");
    expect(fix ?? "allowed_numbers").toContain("allowed_numbers");
  }
});

test("svc doctor names each procedure that can't be loaded, with the place", async () => {
  using home = homeWith("");
  expect(levels(await doctor(home.path), "procedures")).toEqual([]);
  writeProcedure(home.path, "deploy", DEPLOY);
  expect(levels(await doctor(home.path), "procedures")).toEqual(["ok"]);
  writeProcedure(home.path, "broken", BROKEN);
  const report = await doctor(home.path);
  expect(of(report, "procedures")).toMatchObject([
    {
      level: "warning",
      message: expect.stringMatching(/SOP\.toml:2.*priority/),
      fix: "correct it, then: svc sop validate broken",
    },
  ]);
  expect(await runBinary(["sop", "validate", "broken"], { home: home.path })).toMatchObject({ code: EXIT.data });
});
