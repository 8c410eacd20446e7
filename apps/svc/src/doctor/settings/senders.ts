/** Whether what comes by a channel is from whom it says. */
import { type Finding, note, ok, warning } from "../finding.ts";
import { channelSections } from "./channel-section.ts";
import type { Settings } from "./settings.ts";

/** Of channels whose platform proves nothing by itself, mail: somebody else has to have checked who wrote. */
export function senderFindings(settings: Settings): Finding[] {
  return channelSections(settings).flatMap(({ name, keys }) => {
    if (!(PROOF in keys)) return [];
    if (keys[PROOF] === false) {
      const message = `Whoever knows an allowed address can write in its name: [${name}] asks for no proven sender.`;
      return [warning(ID, message, `set ${name}.${PROOF} = true`)];
    }
    if (keys[SERVER] === undefined) {
      const message = `[${name}] believes whichever mail server wrote on top of a mail who sent it.`;
      return [note(ID, message, `svc channels test ${channelOf(name)} tells its name; set ${name}.${SERVER} to that`)];
    }
    return [ok(ID, `[${name}] answers only senders whom a mail server that it knows has checked.`)];
  });
}

const ID = "sender-proof";
/** Keys of channels that read mail. */
const PROOF = "require_authenticated";
const SERVER = "authserv_id";

/** Sections by which anybody can write in anybody's name. Without the ways in nothing is known of them. */
export function unprovenSections(settings: Settings): ReadonlySet<string> {
  const byMail = channelSections(settings).filter(({ keys }) => keys[PROOF] === false);
  const open = settings.config.core.gateway.require_signatures ? [] : unsignedChannels(settings, "messages");
  return new Set([...byMail.map(({ name }) => name), ...open.map((channel) => `channels_config.${channel}`)]);
}

/** Channels with a way in that proves nothing, by which messages come or mere notices that something is to be fetched. */
export function unsignedChannels({ ingress = [] }: Settings, what: "messages" | "notices"): string[] {
  const ways = ingress.filter(({ ingress: way }) => !way.signed && (way.notifies === true) === (what === "notices"));
  return [...new Set(ways.map(({ channel }) => channel))];
}

const channelOf = (section: string): string => section.slice(section.lastIndexOf(".") + 1);
