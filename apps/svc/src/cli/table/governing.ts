/** Procedures, what waits for a person, and what was done. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION, YES_OPTION } from "./options.ts";

export const governing: readonly CommandEntry[] = [
  {
    usage: "approvals <action>",
    summary: "list what waits for a yes, and answer it",
    options: [
      ["--status <status>", "waiting (default), approved, rejected, expired, cancelled or all"],
      ["--feedback <text>", "Said along with the answer"],
      ["--for <time>", "Approve for: once (default), conversation or always, where the request offers it"],
      ["--limit <count>", "Most requests listed (50)"],
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: [
      "svc approvals list",
      "svc approvals approve 12",
      'svc approvals reject 12 --feedback "tests are missing"',
      "svc approvals approve deploy-2026-01-01 sign-off",
      "svc approvals list --status all --json",
      "svc approvals approve 12 --for always",
      "svc approvals revoke 5b0c1f2e9a7d4c38",
    ],
    actions: ["list", "approve <number|run> [step]", "reject <number|run> [step]", "rules", "revoke <rule>"],
    load: () => import("../../commands/approvals.ts"),
  },
  {
    usage: "sop <action>",
    summary: "list, show, validate or run procedures; list, follow or cancel their runs",
    options: [
      ["--payload <json>", "What the run is given, as JSON"],
      ["--wait", "Stay until the run has ended, and tell its steps"],
      ["--status <status>", "pending, running, waiting_approval, completed, failed or cancelled"],
      ["--limit <count>", "Most runs listed (50)"],
      YES_OPTION,
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: [
      "svc sop list",
      "svc sop show deploy",
      "svc sop validate deploy",
      `svc sop run deploy --payload '{"version":"1.4"}' --wait`,
      "svc sop runs deploy --status waiting_approval",
      "svc sop cancel run-7f3a",
    ],
    actions: ["list", "show <name|run>", "validate [name]", "run <name>", "runs [name]", "cancel <run>"],
    load: () => import("../../commands/sop.ts"),
  },
  {
    usage: "audit <action>",
    summary: "list the audit log of procedures and approvals, or verify that nobody changed it",
    options: [["--limit <count>", "Most lines listed (50)"], JSON_OPTION, CONFIG_OPTION],
    examples: ["svc audit list", "svc audit verify"],
    actions: ["list", "verify"],
    load: () => import("../../commands/audit.ts"),
  },
];
