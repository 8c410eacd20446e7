/** Whom the channels let write to the agent, and whom the agent may write to there. */
import { type Finding, note, ok, warning } from "../finding.ts";
import { type ChannelSection, channelSections } from "./channel-section.ts";
import { counted } from "./exposure.ts";
import type { Settings } from "./settings.ts";

export function writerFindings(settings: Settings): Finding[] {
  const sections = channelSections(settings);
  const listed = sections.flatMap(writers);
  return [
    ...(listed.length > 0 ? listed : [ok(ID, "No channel is on that people write by.")]),
    ...sections.filter(({ keys }) => isAnybody(keys["allowed_targets"])).map(({ name }) => anyTarget(name)),
  ];
}

const ID = "allowlists";

function writers({ name, allowed }: ChannelSection): Finding[] {
  if (allowed === undefined) return [];
  const list = `${name}.${allowed.key}`;
  if (isAnybody(allowed.entries)) {
    return [warning(ID, `Everybody may write to the agent by [${name}]: * is on its list.`, `name people in ${list}`)];
  }
  const entries = allowed.entries.filter((entry) => entry.trim() !== "");
  if (entries.length === 0) {
    const fix = `add them to ${list}, as the log names whom it turns away; or take [${name}] out`;
    return [note(ID, `Nobody may write to the agent by [${name}]: its list is empty.`, fix)];
  }
  const domains = entries.filter((entry) => isDomain(entry.trim(), allowed.key)).length;
  if (domains > 0) {
    const message = `Everybody of ${counted(domains, "mail domain")} may write to the agent by [${name}].`;
    return [note(ID, message, `list addresses in ${list}, where not everybody there is meant`)];
  }
  return [ok(ID, `${counted(entries.length, "sender")} may write to the agent by [${name}].`)];
}

const isAnybody = (entries: unknown): boolean =>
  Array.isArray(entries) && entries.some((entry) => typeof entry === "string" && entry.trim() === "*");

/** `@example.org`, and in a list of senders `example.org` too; elsewhere that may be somebody's name. */
function isDomain(entry: string, key: string): boolean {
  const isMarked = entry.startsWith("@");
  const name = isMarked ? entry.slice(1) : entry;
  const dot = name.lastIndexOf(".", name.length - 2);
  if (dot < 1 || !/^[^@\s:]+$/.test(name)) return false;
  return isMarked || (key === "allowed_senders" && /[a-z]/i.test(name.slice(0, dot)));
}

function anyTarget(name: string): Finding {
  const message = `The agent may write to anyone by [${name}], once the policy lets it: * is on the list of targets.`;
  return note("agent-targets", message, `name chats, rooms or addresses in ${name}.allowed_targets`);
}
