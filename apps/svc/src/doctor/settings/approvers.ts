/** Who may answer approval requests in chats, and whether what they write there arrives at all. */
import { isAllowed } from "@svc/kit";
import { type Finding, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";

export function approverFindings({ config, catalogue }: Settings): Finding[] {
  const names = catalogue.flatMap(({ kind, sections: [name] }) =>
    kind === "channel" && name !== undefined ? [name] : [],
  );
  // Two packages may speak to one platform, in one section.
  const sections = [...new Set(names)]
    .map((name) => ({ name, ...answersOf(config.section(name)) }))
    .filter(({ approvers }) => approvers.length > 0);
  if (sections.length === 0) return [];
  const findings = sections.flatMap(({ name, approvers, allowed }) => {
    const keptOut = allowed === undefined ? 0 : approvers.filter((who) => !mayWrite(who, allowed.entries)).length;
    return keptOut === 0 ? [] : [keptOutFinding(`${name}.approvers`, `${name}.${allowed!.key}`, keptOut)];
  });
  return findings.length > 0 ? findings : [ok(ID, "Whoever is in approvers may write where they are to answer.")];
}

const ID = "approvers";

function keptOutFinding(approvers: string, allowlist: string, count: number): Finding {
  const who = count === 1 ? "one person whom" : `${count} people whom`;
  const message = `${approvers} has ${who} ${allowlist} keeps out: what they answer is never read.`;
  return warning(ID, message, `put them into ${allowlist} too`);
}

interface Answers {
  readonly approvers: readonly string[];
  /** The list that channels have in `allowed_…`; undefined: it has none. */
  readonly allowed: { readonly key: string; readonly entries: readonly string[] } | undefined;
}

function answersOf(section: unknown): Answers {
  const entries = Object.entries((section ?? {}) as { readonly [key: string]: unknown });
  const lists = entries.filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
  // `allowed_targets` is about what goes out.
  const allowed = lists.find(([key]) => key.startsWith("allowed_") && key !== "allowed_targets");
  return {
    approvers: lists.find(([key]) => key === "approvers")?.[1] ?? [],
    allowed: allowed && { key: allowed[0], entries: allowed[1] },
  };
}

/** However the channel compares: what is no number, no address and no name of the list in any way is kept out. */
const mayWrite = (who: string, allowed: readonly string[]): boolean =>
  MODES.some((mode) => isAllowed(allowed, who.trim(), mode));

const MODES = ["exact", "phone", "email"] as const;
