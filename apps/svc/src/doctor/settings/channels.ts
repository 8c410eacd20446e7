/**
 * The channels: whether deliveries are proven and platforms can call, who may write to the agent and whom it may write to, who may
 * approve in chats, and what POST /webhook asks for.
 */
import { isAllowed } from "@svc/kit";
import { error, type Finding, note, ok, warning } from "../finding.ts";
import type { Settings } from "./settings.ts";
import { counted } from "./exposure.ts";

export function channelFindings(settings: Settings): Finding[] {
  const { config, ingress } = settings;
  if (ingress === undefined || ingress.length === 0) return [];
  return [...signatures(settings), reachable(config.core.gateway)];
}

const SIGNATURES = "channel-signatures";

function signatures(settings: Settings): Finding[] {
  const messages = unsignedChannels(settings, "messages");
  const notices = unsignedChannels(settings, "notices");
  if (messages.length + notices.length === 0) {
    return [ok(SIGNATURES, "Every delivery of a platform has to prove where it comes from.")];
  }
  const fix = "set its secret (the channel's page says which), or gateway.require_signatures = true";
  if (settings.config.core.gateway.require_signatures) {
    const message = `Every delivery to ${sections([...messages, ...notices])} is refused: its secret is not set, and gateway.require_signatures is on.`;
    return [warning(SIGNATURES, message, `set its secret; the channel's page says which, and: svc config schema`)];
  }
  const anyone = `Anyone who finds the address can write to the agent in a platform's name: ${sections(messages)} has no secret.`;
  const look = `Anyone who finds the address can make ${sections(notices)} look for news at any time: it has no secret.`;
  return [
    ...(messages.length > 0 ? [warning(SIGNATURES, anyone, fix)] : []),
    ...(notices.length > 0 ? [warning(SIGNATURES, look, fix)] : []),
  ];
}

const sections = (channels: readonly string[]): string =>
  channels.map((channel) => `[channels_config.${channel}]`).join(" and ");

function reachable({ public_url: url }: Settings["config"]["core"]["gateway"]): Finding {
  const id = "channel-callbacks";
  if (url === undefined) {
    const message = "Platforms can't call this service: gateway.public_url is not set.";
    return warning(
      id,
      message,
      "put a reverse proxy with TLS in front, and: svc config set gateway.public_url https://…",
    );
  }
  if (new URL(url).protocol === "https:") return ok(id, "The addresses that platforms call are https.");
  return warning(id, "Platforms call https addresses only; gateway.public_url is http.", "set it to https://…");
}

/** A channel's section as the checks read it: by the keys that channels have in common, whichever platform it is. */
export interface ChannelSection {
  /** e.g. `channels_config.webhook`. */
  readonly name: string;
  /** Its keys as they were validated. */
  readonly keys: Readonly<Record<string, unknown>>;
  /** The list that says who may write to the agent; undefined: it has none. */
  readonly allowed: { readonly key: string; readonly entries: readonly string[] } | undefined;
  readonly approvers: readonly string[];
}

/** Of the channels that are on. Two packages may speak to one platform, in one section. */
function channelSections({ config, catalogue }: Settings): ChannelSection[] {
  const names = catalogue.flatMap(({ kind, sections }) => (kind === "channel" ? sections : []));
  return [...new Set(names)].flatMap((name) => {
    const keys = config.section(name) as ChannelSection["keys"] | undefined;
    return keys === undefined ? [] : [{ name, keys, ...listsOf(keys) }];
  });
}

function listsOf(keys: ChannelSection["keys"]): Pick<ChannelSection, "allowed" | "approvers"> {
  const lists = Object.entries(keys).filter((entry): entry is [string, string[]] => Array.isArray(entry[1]));
  // `allowed_targets` is about what goes out.
  const allowed = lists.find(([key]) => key.startsWith("allowed_") && key !== "allowed_targets");
  return {
    allowed: allowed && { key: allowed[0], entries: allowed[1] },
    approvers: lists.find(([key]) => key === "approvers")?.[1] ?? [],
  };
}

/** What a caller of `POST /webhook`, and of the paths of procedures, has to show. */
export function webhookFindings({ config }: Settings): Finding[] {
  const { gateway, "channels_config.webhook": webhook } = config.core;
  const asks = webhook.secret !== undefined || isSet(webhook.signing_secret);
  // Then a request without a token is refused, and one with a token needs nothing else.
  const refuses = !gateway.require_pairing && !asks && gateway.require_signatures;
  if (refuses) return [ok("require-pairing", NO_TOKEN_NO_SECRET), ok("webhook-secret", NO_TOKEN_NO_SECRET)];
  return [
    pairing(gateway.require_pairing, asks, gateway.public_url !== undefined),
    secondLock(gateway.require_pairing, asks),
  ];
}

/** A blank one counts as none. */
const isSet = (secret: string | undefined): boolean => secret !== undefined && secret.trim() !== "";

const NO_TOKEN_NO_SECRET =
  "Requests to POST /webhook without a token are refused: gateway.require_signatures is on, and no secret is set.";

function pairing(required: boolean, asks: boolean, isPublic: boolean): Finding {
  const id = "require-pairing";
  if (required) return ok(id, "POST /webhook needs a paired device's token.");
  const message = "POST /webhook needs no token (gateway.require_pairing = false)";
  const fix = "set gateway.require_pairing = true";
  if (asks) return warning(id, `${message}, only what [channels_config.webhook] asks for.`, fix);
  const open = `${message}, no secret and no signature`;
  return isPublic
    ? error(id, `${open}, while gateway.public_url is set.`, fix)
    : warning(id, `${open}: every program on this machine may use the agent.`, fix);
}

function secondLock(needsToken: boolean, asks: boolean): Finding {
  const id = "webhook-secret";
  if (asks) return ok(id, "POST /webhook needs a secret or a signature, too.");
  const fix = "set secret or signing_secret in [channels_config.webhook]";
  return needsToken
    ? note(id, "A token is all that POST /webhook asks for: no secret and no signature beside it.", fix)
    : warning(
        id,
        "POST /webhook takes messages without a secret or a signature.",
        `${fix}, or gateway.require_signatures = true`,
      );
}

/** Of channels whose platform proves nothing by itself, mail: somebody else has to have checked who wrote. */
export function senderFindings(settings: Settings): Finding[] {
  return channelSections(settings).flatMap(({ name, keys }) => {
    if (!(PROOF in keys)) return [];
    if (keys[PROOF] === false) {
      const message = `Whoever knows an allowed address can write in its name: [${name}] asks for no proven sender.`;
      return [warning(SENDER_PROOF, message, `set ${name}.${PROOF} = true`)];
    }
    if (keys[SERVER] === undefined) {
      const message = `[${name}] believes whichever mail server wrote on top of a mail who sent it.`;
      return [
        note(
          SENDER_PROOF,
          message,
          `svc channels test ${channelOf(name)} tells its name; set ${name}.${SERVER} to that`,
        ),
      ];
    }
    return [ok(SENDER_PROOF, `[${name}] answers only senders whom a mail server that it knows has checked.`)];
  });
}

const SENDER_PROOF = "sender-proof";
/** Keys of channels that read mail. */
const PROOF = "require_authenticated";
const SERVER = "authserv_id";

/** Sections by which anybody can write in anybody's name. Without the ways in nothing is known of them. */
function unprovenSections(settings: Settings): ReadonlySet<string> {
  const byMail = channelSections(settings).filter(({ keys }) => keys[PROOF] === false);
  const open = settings.config.core.gateway.require_signatures ? [] : unsignedChannels(settings, "messages");
  return new Set([...byMail.map(({ name }) => name), ...open.map((channel) => `channels_config.${channel}`)]);
}

/** Channels with a way in that proves nothing, by which messages come or mere notices that something is to be fetched. */
function unsignedChannels({ ingress = [] }: Settings, what: "messages" | "notices"): string[] {
  const ways = ingress.filter(({ ingress: way }) => !way.signed && (way.notifies === true) === (what === "notices"));
  return [...new Set(ways.map(({ channel }) => channel))];
}

const channelOf = (section: string): string => section.slice(section.lastIndexOf(".") + 1);

/** Whom the channels let write to the agent, and whom the agent may write to there. */
export function writerFindings(settings: Settings): Finding[] {
  const sections = channelSections(settings);
  const listed = sections.flatMap(writers);
  return [
    ...(listed.length > 0 ? listed : [ok(ALLOWLISTS, "No channel is on that people write by.")]),
    ...sections.filter(({ keys }) => isAnybody(keys["allowed_targets"])).map(({ name }) => anyTarget(name)),
  ];
}

const ALLOWLISTS = "allowlists";

function writers({ name, allowed }: ChannelSection): Finding[] {
  if (allowed === undefined) return [];
  const list = `${name}.${allowed.key}`;
  if (isAnybody(allowed.entries)) {
    return [
      warning(ALLOWLISTS, `Everybody may write to the agent by [${name}]: * is on its list.`, `name people in ${list}`),
    ];
  }
  const entries = allowed.entries.filter((entry) => entry.trim() !== "");
  if (entries.length === 0) {
    const fix = `add them to ${list}, as the log names whom it turns away; or take [${name}] out`;
    return [note(ALLOWLISTS, `Nobody may write to the agent by [${name}]: its list is empty.`, fix)];
  }
  const domains = entries.filter((entry) => isDomain(entry.trim(), allowed.key)).length;
  if (domains > 0) {
    const message = `Everybody of ${counted(domains, "mail domain")} may write to the agent by [${name}].`;
    return [note(ALLOWLISTS, message, `list addresses in ${list}, where not everybody there is meant`)];
  }
  return [ok(ALLOWLISTS, `${counted(entries.length, "sender")} may write to the agent by [${name}].`)];
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

/** Who may answer approval requests in chats: whether what they write there arrives, and whether it is they who wrote it. */
export function approverFindings(settings: Settings): Finding[] {
  const sections = withApprovers(settings);
  if (sections.length === 0) return [];
  const findings = sections.flatMap(({ name, approvers, allowed }) => {
    const keptOut = allowed === undefined ? 0 : approvers.filter((who) => !mayWrite(who, allowed.entries)).length;
    return keptOut === 0 ? [] : [keptOutFinding(`${name}.approvers`, `${name}.${allowed!.key}`, keptOut)];
  });
  return findings.length > 0
    ? findings
    : [ok(APPROVERS, "Whoever is in approvers may write where they are to answer.")];
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

const APPROVERS = "approvers";

const withApprovers = (settings: Settings): ChannelSection[] =>
  channelSections(settings).filter(({ approvers }) => approvers.length > 0);

function keptOutFinding(approvers: string, allowlist: string, count: number): Finding {
  const who = count === 1 ? "one person whom" : `${count} people whom`;
  const message = `${approvers} has ${who} ${allowlist} keeps out: what they answer is never read.`;
  return warning(APPROVERS, message, `put them into ${allowlist} too`);
}

/** However the channel compares: what is no number, no address and no name of the list in any way is kept out. */
const mayWrite = (who: string, allowed: readonly string[]): boolean =>
  MODES.some((mode) => isAllowed(allowed, who.trim(), mode));

const MODES = ["exact", "phone", "email"] as const;
