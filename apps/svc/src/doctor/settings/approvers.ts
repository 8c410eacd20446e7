/** Who may answer approval requests in chats: whether what they write there arrives, and whether it is they who wrote it. */
import { isAllowed } from "@svc/kit";
import { error, type Finding, ok, warning } from "../finding.ts";
import { type ChannelSection, channelSections } from "./channel-section.ts";
import { counted } from "./exposure.ts";
import { unprovenSections } from "./senders.ts";
import type { Settings } from "./settings.ts";

export function approverFindings(settings: Settings): Finding[] {
  const sections = withApprovers(settings);
  if (sections.length === 0) return [];
  const findings = sections.flatMap(({ name, approvers, allowed }) => {
    const keptOut = allowed === undefined ? 0 : approvers.filter((who) => !mayWrite(who, allowed.entries)).length;
    return keptOut === 0 ? [] : [keptOutFinding(`${name}.approvers`, `${name}.${allowed!.key}`, keptOut)];
  });
  return findings.length > 0 ? findings : [ok(ID, "Whoever is in approvers may write where they are to answer.")];
}

/** What an approver says is worth as much as the channel's word for who said it. */
export function approverProofFindings(settings: Settings): Finding[] {
  const id = "approver-proof";
  const sections = withApprovers(settings);
  if (sections.length === 0) return [ok(id, "Only operators approve: on the page, by a token, at the command line.")];
  const unproven = unprovenSections(settings);
  return sections.map(({ name, approvers }) =>
    unproven.has(name)
      ? error(
          id,
          `Whoever can write in an approver's name may approve by [${name}]: nothing proves who writes there.`,
          `fix what is said of [${name}] above, or take ${name}.approvers away`,
        )
      : ok(id, `Beside operators ${counted(approvers.length, "person", "people")} may approve by [${name}].`),
  );
}

const ID = "approvers";

const withApprovers = (settings: Settings): ChannelSection[] =>
  channelSections(settings).filter(({ approvers }) => approvers.length > 0);

function keptOutFinding(approvers: string, allowlist: string, count: number): Finding {
  const who = count === 1 ? "one person whom" : `${count} people whom`;
  const message = `${approvers} has ${who} ${allowlist} keeps out: what they answer is never read.`;
  return warning(ID, message, `put them into ${allowlist} too`);
}

/** However the channel compares: what is no number, no address and no name of the list in any way is kept out. */
const mayWrite = (who: string, allowed: readonly string[]): boolean =>
  MODES.some((mode) => isAllowed(allowed, who.trim(), mode));

const MODES = ["exact", "phone", "email"] as const;
