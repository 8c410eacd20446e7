/** The questions that `svc doctor --security` answers, in its order, and the findings that are the answer to each. */
import type { Finding } from "./finding.ts";

export interface Group {
  /** Stable: scripts look for it. */
  readonly id: string;
  readonly title: string;
  /** Ids of findings, in the order in which they are shown. */
  readonly findings: readonly string[];
}

const GROUPS: readonly Group[] = [
  {
    id: "reach",
    title: "Who can reach it",
    findings: [
      "public-bind",
      "public-address",
      "public-url",
      "public-url-leads-here",
      "allowed-hosts",
      "trusted-proxies",
      "forwarded-headers",
      "proxy-headers",
      "local-paths",
      "rate-limit",
    ],
  },
  {
    id: "proof",
    title: "What is taken without a proof",
    findings: ["require-pairing", "webhook-secret", "channel-signatures", "sender-proof"],
  },
  { id: "write", title: "Who may write to the agent", findings: ["allowlists"] },
  { id: "approve", title: "Who may approve", findings: ["approvers", "approver-proof", "agent-approves"] },
  {
    id: "act",
    title: "What may act",
    findings: [
      "autonomy",
      "allowed-commands",
      "sandbox",
      "sandbox-limits",
      "sandbox-network",
      "workspace-only",
      "workspace",
      "trusted-input",
      "agent-targets",
      "root",
    ],
  },
  {
    id: "devices",
    title: "Devices and sign-ins",
    findings: ["devices", "idle-tokens", "pairing-codes", "page-sessions", "passkeys"],
  },
  {
    id: "leaves",
    title: "What leaves this machine",
    findings: [
      "model-host",
      "transcription-host",
      "speech-host",
      "outgoing-webhook",
      "outgoing-webhook-signature",
      "trace-host",
      "trace-content",
      "web-requests",
      "allow-private",
    ],
  },
  { id: "told", title: "What strangers can see", findings: ["public-paths", "public-metrics"] },
  {
    id: "kept",
    title: "How it is kept",
    findings: [
      "home",
      "file-modes",
      "key-file",
      "secrets-encrypted",
      "secrets-readable",
      "secrets-short",
      "secrets-weak",
      "log-level",
      "core-dumps",
    ],
  },
];

/** Whether it works at all: what `svc doctor` is asked for. */
export const HEALTH: Group = { id: "health", title: "Whether it works", findings: [] };

export const groupOf = ({ id }: Finding): Group => GROUPS.find(({ findings }) => findings.includes(id)) ?? HEALTH;

/** Every group that has findings, with these in the order of the group. */
export function grouped(findings: readonly Finding[]): { readonly group: Group; readonly findings: Finding[] }[] {
  return [...GROUPS, HEALTH]
    .map((group) => ({
      group,
      findings: findings
        .filter((finding) => groupOf(finding) === group)
        .toSorted((one, other) => group.findings.indexOf(one.id) - group.findings.indexOf(other.id)),
    }))
    .filter((each) => each.findings.length > 0);
}
