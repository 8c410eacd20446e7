/** Findings as a person reads them: one after the other, or grouped by the questions that `svc doctor --security` answers. */
import type { Finding, FindingLevel } from "./finding.ts";

export interface Group {
  /** Stable: scripts look for it. */
  readonly id: string;
  readonly title: string;
  /** Ids of findings, in the order in which they are shown. */
  readonly findings: readonly string[];
}

/** In the order of the answers. */
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
const HEALTH: Group = { id: "health", title: "Whether it works", findings: [] };

export const groupOf = ({ id }: Finding): Group => GROUPS.find(({ findings }) => findings.includes(id)) ?? HEALTH;

/** Every group that has findings, with these in the order of the group. */
function grouped(findings: readonly Finding[]): { readonly group: Group; readonly findings: Finding[] }[] {
  return [...GROUPS, HEALTH]
    .map((group) => ({
      group,
      findings: findings
        .filter((finding) => groupOf(finding) === group)
        .toSorted((one, other) => group.findings.indexOf(one.id) - group.findings.indexOf(other.id)),
    }))
    .filter((each) => each.findings.length > 0);
}

/** One after the other. */
export const reportText = (findings: readonly Finding[]): string =>
  [...lines(findings, widthOf(findings)), "", counts(findings, ["error", "warning", "ok"])].join("\n");

/** Question by question. Of what is not about security only what is wrong: the rest is another question. */
export function securityText(findings: readonly Finding[]): string {
  const shown = findings.filter((finding) => finding.level !== "ok" || groupOf(finding) !== HEALTH);
  const width = widthOf(shown);
  return [
    ...grouped(shown).flatMap(({ group, findings: own }) => [group.title, ...lines(own, width), ""]),
    counts(shown, ["error", "warning", "note", "ok"]),
  ].join("\n");
}

const widthOf = (findings: readonly Finding[]): number => Math.max(...findings.map(({ id }) => id.length));

/** A sentence may have several lines (a problem of the config): the others stand below its first. */
const lines = (findings: readonly Finding[], width: number): string[] =>
  findings.map(({ id, level, message, fix }) => {
    const indent = " ".repeat(9 + width + 2);
    const first = `${level.padEnd(7)}  ${id.padEnd(width)}  ${message.replaceAll("\n", `\n${indent}`)}`;
    return fix === undefined ? first : `${first}\n${indent}→ ${fix}`;
  });

const counts = (findings: readonly Finding[], levels: readonly FindingLevel[]): string =>
  levels.map((level) => `${findings.filter((finding) => finding.level === level).length} ${NAMES[level]}`).join(", ");

const NAMES: Readonly<Record<FindingLevel, string>> = { error: "errors", warning: "warnings", note: "notes", ok: "ok" };
